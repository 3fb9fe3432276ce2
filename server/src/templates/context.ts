/** What the rules of this folder need from outside. */
import type { Configuration } from '@inlay/contract/connector-configuration';
import type { CredentialOwner } from '@inlay/contract/credentials';
import type { Apply } from '@inlay/contract/rollouts';
import type { TemplateOAuth } from '@inlay/contract/template-oauth';
import type { Logger } from 'pino';
import type { Db, Store } from '../db/open.ts';
import type { Definition } from '../definitions/definition.ts';
import type { DefinitionsContext } from '../definitions/definitions.ts';
import type { Journal } from '../events/journal.ts';
import type { ConnectorFailure } from '../platform/pipelines-port.ts';
import type { Runtime } from '../runtime.ts';
import type { Sealer } from '../sealing.ts';
import type { Operator, TemplateRef } from '../template-ref.ts';
import type { SignInClient } from './sign-in.ts';

export interface TemplatesContext extends DefinitionsContext {
  store: Store;
  runtime: Runtime;
  log: Logger;
  sealer: Sealer;
  /** Every change is written into it, in the transaction of the change. */
  journal: Journal;
  /** Runs the destination's connector to see whether it works; takes seconds. */
  tryDestination(
    organizationId: string,
    definition: Definition,
    configuration: Configuration,
  ): Promise<DestinationVerdict>;
  /** Who refreshes tokens: this service, or a hosted platform, which gets them once. */
  tokenOwner: CredentialOwner;
  /** An OAuth client of the organization. */
  findOAuthClient(
    db: Db,
    organizationId: string,
    client: Pick<TemplateOAuth, 'oauth_client_id'>,
  ): Promise<SignInClient | undefined>;
  /** Brings a version to what was made from the template before, in the background. Recorded in the transaction. */
  startRollout(
    journal: Journal,
    tx: Db,
    rollout: { template: TemplateRef; version: number; by: Operator; apply: Apply },
  ): Promise<{ id: string; sources: number }>;
  /** Pauses or deletes what was made from a template that is being deleted. Recorded in the transaction. */
  startRetirement(
    journal: Journal,
    tx: Db,
    retirement: { template: TemplateRef; version: number; by: Operator; how: 'pause' | 'delete' },
  ): Promise<{ id: string }>;
  /** The change that was planned, as it was asked for. Throws if there is no such plan. */
  openPlan(template: TemplateRef, planId: string): Promise<OpenedPlan>;
  /** Throws if the plan no longer tells what the change would do. In the transaction of the change. */
  assertPlanHolds(tx: Db, plan: OpenedPlan, version: number, apply: Apply | undefined): Promise<void>;
}

export interface OpenedPlan {
  id: string;
  template: TemplateRef;
  /** The request, as PATCH takes it. */
  request: Record<string, unknown>;
}

/** A failure is without secrets. `not checkable`: the platform has no checks of destinations. */
export type DestinationVerdict = 'works' | 'not checkable' | ConnectorFailure;
