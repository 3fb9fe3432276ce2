/**
 * Whether the destination of a connection template works, found out before the template is saved: nothing else would notice
 * a wrong password before the first customer's sync. For POST and PATCH of a template, and for a plan of a change.
 */
import type { Configuration } from '@inlay/contract/catalog/connector-configuration';
import type { Fault } from '@inlay/contract/errors';
import type { Definition } from '../catalog/definitions/definition.ts';
import { invalidRequest } from '../kernel/errors.ts';
import { tryDestination } from '../pipelines/checks/destination-checks.ts';
import type { PipelinesContext } from '../pipelines/context.ts';

export interface DestinationTest {
  /** False where the platform cannot check destinations. */
  isChecked: boolean;
  /** Why it does not work, at the field that is to be changed. */
  fault?: Fault;
}

interface TestedConfiguration {
  definition: Definition;
  configuration: Configuration;
}

export async function testDestination(
  ctx: PipelinesContext,
  organizationId: string,
  { definition, configuration }: TestedConfiguration,
): Promise<DestinationTest> {
  const verdict = await tryDestination(ctx, organizationId, definition, configuration);
  if (verdict === 'works') return { isChecked: true };
  if (verdict === 'not checkable') return { isChecked: false };
  const [field] = verdict.fields ?? [];
  const loc = ['body', 'destination_config', ...(field?.split('.') ?? [])];
  return { isChecked: true, fault: { loc, msg: verdict.message, type: 'value_error.destination' } };
}

/** Null where it was not tested. Throws 422 if it does not work. */
export async function timeOfTest(
  ctx: PipelinesContext,
  organizationId: string,
  tested: TestedConfiguration,
  { skip_check: isSkipped = false }: { skip_check?: boolean },
): Promise<number | null> {
  if (isSkipped) return null;
  const { isChecked, fault } = await testDestination(ctx, organizationId, tested);
  if (fault) throw invalidRequest(fault);
  return isChecked ? await ctx.store.now() : null;
}
