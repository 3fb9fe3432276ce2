/** Values that a source needs and the provider tells, in the token answer or in the redirect. */
import type { OAuthProvider } from '@inlay/contract/oauth-providers';

const maxLength = 2_048;

export function takenValues(
  { taken = {} }: Pick<OAuthProvider, 'taken'>,
  answer: Record<string, unknown>,
  redirect: URLSearchParams,
): Record<string, string> {
  const values = Object.entries(taken).flatMap(([name, { from, path }]) => {
    const value = from === 'redirect' ? redirect.get(path[0] ?? '') : textAt(answer, path);
    return value ? [[name, value.toWellFormed().slice(0, maxLength)]] : [];
  });
  return Object.fromEntries(values);
}

function textAt(value: unknown, path: readonly string[]): string | undefined {
  const found = path.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, name)
        ? (inner as Record<string, unknown>)[name]
        : undefined,
    value,
  );
  return typeof found === 'string' || typeof found === 'number' ? String(found) : undefined;
}
