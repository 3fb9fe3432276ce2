/**
 * The runner of the bundled platform: connectors are processes on this machine. ask.ts and sync.ts define what is asked
 * of them; this file defines the limits and what counts as a valid response.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import { maxRecordBytes } from '@inlay/protocol/protocol';
import { type ConnectorLimits, defaultLimits } from '../processes/limits.ts';
import { RunWatch } from '../processes/run-watch.ts';
import type { Runtime } from '../runtime.ts';
import { ask } from './ask.ts';
import { maxCatalogBytes } from './catalog-limits.ts';
import { withoutNulls } from './catalog-text.ts';
import { namedFields, namedWarnings } from './check-words.ts';
import { checkedCatalog, invalidAnswer } from './checked-catalog.ts';
import { type ProcessWatch, RunFailure, type Runner } from './runner.ts';
import { runSync, type SyncSettings } from './sync.ts';

export interface RunnerOptions {
  /**
   * For connector input files, including secrets. Used only by this runner: anything found in it was left by a killed
   * process and is removed.
   */
  folder: string;
  /** Id of this run of the service; default: a new one. See marked-processes.ts. */
  mark?: string;
  /** Parent control group of the connectors' own groups; see cgroups.ts. */
  cgroup?: string | undefined;
  runtime: Runtime;
  specificationTimeoutMs?: number;
  checkTimeoutMs?: number;
  discoverTimeoutMs?: number;
  /** A sync in which nothing moves for so long is ended. */
  stuckAfterMs?: number;
  /** How long a process that was asked to end may take before it is killed. */
  graceMs?: number;
  limits?: Partial<ConnectorLimits>;
  /** The longest message of a connector; by default `maxRecordBytes`. */
  maxLineBytes?: number;
  watchProcess?: ProcessWatch;
}

/** A process that stops is itself killed soon: container engines wait for ten seconds. */
const closingGraceMs = 3_000;

export function createRunner(options: RunnerOptions): Runner {
  const { specificationTimeoutMs = 60_000, checkTimeoutMs = 60_000, discoverTimeoutMs = 600_000 } = options;
  const { graceMs = 10_000 } = options;
  let isClosing = false;
  const settings: SyncSettings = {
    folder: options.folder,
    mark: options.mark ?? options.runtime.newId(),
    runtime: options.runtime,
    limits: { ...defaultLimits, ...options.limits },
    cgroup: options.cgroup,
    runs: new RunWatch(options.runtime),
    graceMs: () => (isClosing ? Math.min(graceMs, closingGraceMs) : graceMs),
    stuckAfterMs: options.stuckAfterMs ?? 3_600_000,
    maxLineBytes: options.maxLineBytes ?? maxRecordBytes,
    watchProcess: options.watchProcess,
  };
  rmSync(options.folder, { recursive: true, force: true });
  mkdirSync(options.folder, { recursive: true, mode: 0o700 });

  return {
    async readSpecification(connector, runOptions = {}) {
      const question = { connector, command: 'spec', files: {}, answer: 'SPEC' } as const;
      const { spec } = await ask({ ...question, timeoutMs: specificationTimeoutMs }, settings, runOptions);
      if (!isObject(spec?.connectionSpecification)) {
        throw invalidAnswer(connector.kind, 'its specification has no connectionSpecification');
      }
      return spec;
    },

    async check(connector, runOptions = {}) {
      const files = { config: connector.configuration };
      const question = { connector, command: 'check', files, answer: 'CONNECTION_STATUS' } as const;
      try {
        const answer = await ask({ ...question, timeoutMs: checkTimeoutMs }, settings, runOptions);
        const { status, message, inlay_fields, inlay_warnings } = answer.connectionStatus ?? {};
        if (status === 'SUCCEEDED') return { status: 'succeeded', ...namedWarnings(inlay_warnings) };
        return {
          status: 'failed',
          message: message || 'The connection test failed.',
          ...namedFields(inlay_fields),
        };
      } catch (error) {
        // Some connectors report a bad configuration only as a failure.
        if (!(error instanceof RunFailure) || error.failure.type !== 'config_error') throw error;
        return { status: 'failed', message: error.failure.message, ...namedFields(error.failure.fields) };
      }
    },

    async discover(source, runOptions = {}) {
      const files = { config: source.configuration };
      const question = { connector: source, command: 'discover', files, answer: 'CATALOG' } as const;
      const maxLineBytes = Math.min(settings.maxLineBytes, maxCatalogBytes);
      const asked = { ...question, timeoutMs: discoverTimeoutMs };
      const { catalog } = await ask(asked, { ...settings, maxLineBytes }, runOptions);
      // Reading the message may have taken long.
      await nextTurn();
      return await withoutNulls(checkedCatalog(source.kind, catalog));
    },

    sync: (request) => runSync(request, settings),
    clear: (request) => runSync(request, settings),
    closeSoon() {
      isClosing = true;
    },
  };
}
