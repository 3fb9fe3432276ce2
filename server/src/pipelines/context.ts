/** What the rules of this folder need from outside. */
import type { Audience } from '@inlay/contract/health';
import type { TemplateOAuth } from '@inlay/contract/template-oauth';
import type { FairQueue } from '@inlay/schedule/fair-queue';
import type { Logger } from 'pino';
import { byWorker, type Cause } from '../cause.ts';
import type { Db, Store } from '../db/open.ts';
import { causedBy, type Journal } from '../events/journal.ts';
import type { PlatformPort } from '../platform/platform-port.ts';
import type { TemplateFilters } from '../principals.ts';
import type { Runtime } from '../runtime.ts';
import type { Sealer } from '../sealing.ts';
import type { TemplatesContext } from '../templates/context.ts';
import type { WorkspacesContext } from '../workspaces/context.ts';

export interface PipelinesContext {
  store: Store;
  platform: PlatformPort;
  runtime: Runtime;
  log: Logger;
  sealer: Sealer;
  /** Every change is written into it, in the transaction of the change. */
  journal: Journal;
  /** How long the platform may take to apply a request after its answer was lost. */
  settleMs: number;
  /** How long our own store keeps the log of a job after its end; 0: not at all. */
  jobLogMs: number;
  templates: TemplatesContext;
  workspaces: WorkspacesContext;
  /** The tokens of customers who have signed in; see oauth/. */
  credentials: SourceCredentials;
  /** Decides which check and which new connection comes next. Both keep a connector busy, so workspaces take turns. */
  turns: Record<'checks' | 'setUps', FairQueue>;
  /** Told of every job that has ended, for metrics. */
  countJob(job: { status: 'failed' | 'succeeded' | 'cancelled'; seconds: number; rows: number }): void;
  /** Work that nobody waits for; `what` names it in the log should it fail. */
  inBackground(what: string, work: () => Promise<unknown>): void;
}

export interface SourceCredentials {
  /** Throws unless the workspace has this credential, for this template. Nobody ends it until the transaction does. */
  hold(tx: Db, credential: HeldCredential): Promise<void>;
  /** The id of the operator's own credential for a template, made if there is none. The caller holds the workspace. */
  ensureOwn(tx: Db, journal: Journal, wanted: Omit<HeldCredential, 'id'> & { oauth: TemplateOAuth }): Promise<string>;
  /** A source has stopped using it: once no source does, it is ended, and the provider is told. */
  release(tx: Db, journal: Journal, credential: Omit<HeldCredential, 'templateId'>): Promise<void>;
  /** What a hosted platform is to own from now on; undefined: the platform has it already, or the credential has ended. */
  toHandOver(credential: Omit<HeldCredential, 'templateId'>): Promise<TokensForPlatform | undefined>;
  /** The platform has confirmed that it has the tokens of this generation: they are stored there only. */
  handedOver(credential: Omit<HeldCredential, 'templateId'>, generation: number): Promise<void>;
}

export interface TokensForPlatform {
  /** By the names that the fields of a sign-in use. */
  values: Record<string, string>;
  generation: number;
}

export interface HeldCredential {
  organizationId: string;
  workspaceId: string;
  id: string;
  templateId: string;
}

/** The context for changes that this cause has, here and in the folders that this folder calls. */
export function changedBy(ctx: PipelinesContext, cause: Cause): PipelinesContext {
  const { workspaces, templates } = ctx;
  return { ...causedBy(ctx, cause), workspaces: causedBy(workspaces, cause), templates: causedBy(templates, cause) };
}

/** For work that goes on after the request that began it was answered. */
export const changedByWorker = (ctx: PipelinesContext): PipelinesContext => changedBy(ctx, byWorker);

/** Where a request acts: the workspace of a scoped token, or the workspace that an operator names. */
export interface Scope {
  organizationId: string;
  workspaceId: string;
  /** Who reads the answer: a failure has other words for each; see failure-texts.ts. */
  audience: Audience;
  /** What a widget token restricts its holder to. */
  templateFilters?: TemplateFilters | undefined;
}
