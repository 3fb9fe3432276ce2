/** What the rules of this folder need from outside. */
import type { Logger } from 'pino';
import type { Store } from '../../kernel/db/open.ts';
import type { PlatformPort } from '../../kernel/platform/platform-port.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { Metrics } from '../../kernel/telemetry/metrics.ts';
import type { Journal } from '../../log/events/journal.ts';
import type { ScopedTokens } from '../tokens/scoped-tokens.ts';
import type { JoinableWork } from './joinable-work.ts';
import type { WorkspaceContents } from './workspace-contents.ts';

export interface WorkspacesContext {
  store: Store;
  platform: PlatformPort;
  runtime: Runtime;
  log: Logger;
  /** Every change is written into it, in the transaction of the change. */
  journal: Journal;
  /** How long the platform may take to apply a request after its answer was lost. */
  settleMs: number;
  metrics: Metrics;
  joinable: JoinableWork;
  contents: WorkspaceContents;
  /** They remember which tokens work, until tokens of a workspace stop working. */
  scopedTokens: Pick<ScopedTokens, 'forget'>;
}
