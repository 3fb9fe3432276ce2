/**
 * What customers read in place of a failure that is not theirs. Known here, so that the widget can say the same in the
 * customer's language.
 */
export const problemOnOurSide =
  'There is a problem on our side, and our team can see it. You do not have to change anything.';

/** A sign-in with a provider has ended, whatever ended it. */
export const signInAgain = 'The access to your account has ended. Sign in again to go on.';

/** An operator has paused the connection of an active workspace. */
export const pausedByTeam = 'This connection is paused.';

/** The customer can fix it, but the reason names something of the operator's. */
export function lookAt(titles: readonly string[]): string {
  return `${lookAtStart}${titles.join(', ')}.`;
}

const lookAtStart = 'This did not work with what was entered. Check: ';

/** The titles; undefined for any other text. */
export function readLookAt(text: string): string | undefined {
  return text.startsWith(lookAtStart) && text.endsWith('.') ? text.slice(lookAtStart.length, -1) : undefined;
}
