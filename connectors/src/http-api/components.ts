/* The components that this connector brings, for what the language of manifests cannot say. */
import type { ComponentDefinition, Given } from '@inlay/manifests/component';
import { RunFailure } from '@inlay/manifests/http/failures';
import type { Authenticator } from '@inlay/manifests/requests/requester';
import type { Run } from '@inlay/manifests/run/run';
import { ConnectorError } from '@inlay/protocol/connector';
import { recordsAt } from '../kit/records.ts';
import { type Expectations, errorHandler, wholeAnswer } from './answers.ts';
import type { StreamConfiguration } from './configuration.ts';
import { castDeclared } from './declared-types.ts';
import { migrateState, newRecords } from './new-records.ts';
import { defaultLimits, type Limits, watchedPages } from './watched-pages.ts';

export interface Reading extends Expectations {
  limits?: Limits;
}

export function ownComponents(reading: Reading): ComponentDefinition[] {
  const { limits = defaultLimits, hasWorked } = reading;
  const made = (name: string, words: string, make: (given: Given) => unknown): ComponentDefinition => ({
    name,
    step: 'S1',
    words,
    options: {},
    make,
  });
  const settings = (given: Given) => streamSettings(given);
  return [
    made('CustomErrorHandler', 'Checks responses.', (given) => errorHandler(given, reading)),
    made('CustomDecoder', 'Returns the response body unchanged.', () => wholeAnswer),
    made('CustomRecordExtractor', 'Extracts the records at a path.', (given) => {
      const { record_path = '' } = settings(given);
      return (values: readonly unknown[]) => values.flatMap((body) => recordsAt(body, record_path, true));
    }),
    made('CustomPaginator', 'Checks pages before accepting them.', (given) =>
      watchedPages(given, settings(given), limits, hasWorked),
    ),
    made('CustomIncrementalSync', 'Selects new records by a cursor field.', (given) =>
      newRecords(given, settings(given)),
    ),
    made('CustomStateMigration', 'Migrates states from before time windows.', (given) => migrateState(settings(given))),
    made('CustomTransformation', 'Casts values to their declared types.', (given) => castDeclared(settings(given))),
    made('CustomAuthenticator', 'Shares one access token among all streams of a run.', sharedToken),
  ];
}

/** Settings of the stream that a component belongs to. */
function streamSettings(given: Given): StreamConfiguration {
  const { streams } = given.config as { streams: StreamConfiguration[] };
  const found = streams.find(({ name }) => name === given.making.streamName);
  if (!found) throw new Error(`No settings for the stream ${given.making.streamName}.`);
  return found;
}

const authenticators = new WeakMap<Run, Authenticator>();

function sharedToken(given: Given): Authenticator {
  const known = authenticators.get(given.run);
  if (known) return known;
  const { parts, renewedHeaders, refresh } = given.child<Authenticator>('oauth') as Authenticator;
  const authenticator: Authenticator = {
    parts: () => aboutAuthentication(parts),
    renewedHeaders: () => aboutAuthentication(renewedHeaders),
    ...(refresh && { refresh: () => aboutAuthentication(refresh) }),
  };
  authenticators.set(given.run, authenticator);
  return authenticator;
}

async function aboutAuthentication<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RunFailure || error instanceof ConnectorError)) throw error;
    const failureType = error.failureType === 'transient_error' ? 'transient_error' : 'config_error';
    throw new ConnectorError(error.message, { failureType, fields: ['authentication'], cause: error });
  }
}
