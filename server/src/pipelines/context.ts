/** What the rules of this folder need from outside. */
import type { Audience } from '@inlay/contract/pipelines/health';
import type { FairQueue } from '@inlay/schedule/fair-queue';
import type { Logger } from 'pino';
import type { TemplatesContext } from '../catalog/templates/context.ts';
import type { Background } from '../kernel/background.ts';
import { byWorker, type Cause } from '../kernel/cause.ts';
import type { Store } from '../kernel/db/open.ts';
import type { PlatformPort } from '../kernel/platform/platform-port.ts';
import type { TemplateFilters } from '../kernel/principals.ts';
import type { Runtime } from '../kernel/runtime.ts';
import type { Sealer } from '../kernel/sealing.ts';
import type { Metrics } from '../kernel/telemetry/metrics.ts';
import { causedBy, type Journal } from '../log/events/journal.ts';
import type { WorkspacesContext } from '../tenancy/workspaces/context.ts';

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
  /** Decides which check and which new connection comes next. Both keep a connector busy, so workspaces take turns. */
  turns: Record<'checks' | 'setUps', FairQueue>;
  metrics: Metrics;
  /** Work that nobody waits for. */
  background: Background;
}

/** The context for changes that this cause has, here and in the folders that this folder calls. */
export function changedBy(ctx: PipelinesContext, cause: Cause): PipelinesContext {
  const { workspaces, templates } = ctx;
  return { ...causedBy(ctx, cause), workspaces: causedBy(workspaces, cause), templates: causedBy(templates, cause) };
}

/** For work that continues after its request was answered. */
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
