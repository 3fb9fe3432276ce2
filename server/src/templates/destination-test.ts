/**
 * Whether the destination of a connection template works, found out before the template is saved: nothing else would notice
 * a wrong password before the first customer's sync. For POST and PATCH of a template, and for a plan of a change.
 */
import type { Configuration } from '@inlay/contract/connector-configuration';
import type { Fault } from '@inlay/contract/errors';
import type { Definition } from '../definitions/definition.ts';
import { invalidRequest } from '../errors.ts';
import type { TemplatesContext } from './context.ts';

export interface DestinationTest {
  /** False where the platform cannot check destinations. */
  isChecked: boolean;
  /** Why it does not work, at the field that is to be changed. */
  fault?: Fault;
}

export async function testDestination(
  ctx: TemplatesContext,
  organizationId: string,
  definition: Definition,
  configuration: Configuration,
): Promise<DestinationTest> {
  const verdict = await ctx.tryDestination(organizationId, definition, configuration);
  if (verdict === 'works') return { isChecked: true };
  if (verdict === 'not checkable') return { isChecked: false };
  const [field] = verdict.fields ?? [];
  const loc = ['body', 'destination_config', ...(field?.split('.') ?? [])];
  return { isChecked: true, fault: { loc, msg: verdict.message, type: 'value_error.destination' } };
}

/** Gives whether it was checked. Throws 422 if it does not work. */
export async function assertDestinationWorks(...test: Parameters<typeof testDestination>): Promise<boolean> {
  const { isChecked, fault } = await testDestination(...test);
  if (fault) throw invalidRequest(fault);
  return isChecked;
}
