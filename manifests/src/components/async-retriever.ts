/* Reads a stream by jobs: asks for one, waits until it is done, and downloads what it made. */

import { isJsonObject } from '@inlay/protocol/json';
import {
  boolean,
  type ComponentDefinition,
  component,
  either,
  type Given,
  integer,
  list,
  optional,
  required,
  template,
  text,
} from '../component.ts';
import type { Answer } from '../http/answer.ts';
import { RunFailure } from '../http/failures.ts';
import { noPagination, type Paginator } from '../requests/pagination.ts';
import type { Requester } from '../requests/requester.ts';
import { type Decoder, jsonDecoder } from '../run/decoder.ts';
import type { Slice } from '../run/slice.ts';
import { SliceIgnored } from '../run/stream.ts';
import { pythonText } from '../values/printing.ts';
import { tableDecoder } from './decoders.ts';
import { routerNames } from './retriever.ts';
import type { Retriever, RetrieverSurroundings } from './retriever-surroundings.ts';
import { decoderNames, type Extractor, type RecordExtractor, type RecordSelector } from './selection.ts';

type Status = 'running' | 'completed' | 'failed' | 'timeout' | 'skipped';

const secondsBetweenPolls = 5;
const mostAttempts = 3;
const defaultTimeoutMinutes = 60;

function makeAsyncRetriever(given: Given): Retriever {
  const { schema, transformations, filteringCursor } = given.around as RetrieverSurroundings;
  const decoder = given.child<Decoder>('decoder') ?? jsonDecoder;
  const table = given.inside(given.value('download_extractor'));
  const isTable = table.type === 'ResponseToFileExtractor';
  const downloadDecoder = isTable
    ? tableDecoder(table.flag('preserve_na_values'))
    : (given.child<Decoder>('download_decoder') ?? jsonDecoder);
  const { streamName } = given.making;
  const requester = ([name, work]: readonly [string, string]) =>
    given.child<Requester>(name, { requestsFor: `job ${work} - ${streamName}` });
  const [create, poll, abort, remove, target] = [
    ['creation_requester', 'creation'] as const,
    ['polling_requester', 'polling'] as const,
    ['abort_requester', 'abort'] as const,
    ['delete_requester', 'delete'] as const,
    ['download_target_requester', 'extract_url'] as const,
  ].map(requester);
  const download = given.child<Requester>('download_requester', {
    isStreamed: downloadDecoder.isStreamed,
    requestsFor: `job download - ${streamName}`,
  });
  const selector = given.child<RecordSelector>('record_selector', { transformations, filteringCursor });
  const statusOf = given.child<Extractor>('status_extractor');
  const targetsOf = given.child<Extractor>('download_target_extractor');
  const extract =
    (isTable ? undefined : given.child<RecordExtractor>('download_extractor')) ??
    given.make<RecordExtractor>({ type: 'DpathExtractor', field_path: [] });
  const paginator = given.child<Paginator>('download_paginator') ?? noPagination;
  if (!create || !poll || !download || !selector || !statusOf)
    throw new Error('An AsyncRetriever is missing a requester or an extractor.');
  const statuses = readStatuses(given.inside(given.value('status_mapping')));
  const timeoutSeconds = Number(given.rendered('polling_job_timeout', String(defaultTimeoutMinutes))) * 60;
  const retryWait = Number(given.rendered('failed_retry_wait_time_in_seconds', '0')) || 0;

  /** The answer as templates know it: its body, and its headers where the body has none. */
  const contextOf = (answer: Answer) => {
    const body = decoder.firstValue(answer);
    return { headers: answer.headersByAnyCase, ...(isJsonObject(body) ? body : {}) };
  };

  const withNames = (slice: Slice, names: Record<string, unknown>): Slice => ({
    ...slice,
    extraFields: { ...slice.extraFields, ...names },
  });

  async function runJob(slice: Slice): Promise<Slice> {
    const created = await startJob(slice);
    const job = withNames(slice, { creation_response: contextOf(created) });
    for (let waited = 0; ; waited += secondsBetweenPolls) {
      const polled = await (poll as Requester).send({ slice: job });
      const [found] = (statusOf as Extractor)([decoder.firstValue(polled)]);
      const status = statuses.get(pythonText(found ?? ''));
      if (!status)
        throw new RunFailure(
          `The API reports the job status "${pythonText(found ?? '')}", which the manifest does not define.`,
        );
      const known = withNames(job, { polling_response: contextOf(polled) });
      if (status === 'completed') return known;
      if (status === 'skipped') throw new SliceIgnored();
      if (status === 'failed') throw new JobFailure(retryWait);
      if (status === 'timeout' || waited >= timeoutSeconds) {
        await abortJob(known);
        throw new JobFailure();
      }
      await given.run.wait(secondsBetweenPolls, 'poll');
    }
  }

  /** A job that cannot be aborted ends on its own eventually. */
  async function abortJob(job: Slice): Promise<void> {
    try {
      await abort?.send({ slice: job });
    } catch (error) {
      if (!(error instanceof RunFailure)) throw error;
      given.run.log('WARN', `${streamName}: Failed to abort a job. ${error.message}`);
    }
  }

  /** An API that takes no job is asked again like one whose job has failed, unless the credentials are to blame. */
  async function startJob(slice: Slice): Promise<Answer> {
    try {
      const created = await (create as Requester).send({ slice });
      if (created.isGood) return created;
    } catch (error) {
      if (!(error instanceof RunFailure) || error.failureType === 'config_error') throw error;
      given.run.log('WARN', `${streamName}: Failed to start a job. ${error.message}`);
    }
    throw new JobFailure();
  }

  async function finishedJob(slice: Slice): Promise<Slice> {
    await given.run.jobs.take();
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          return await runJob(slice);
        } catch (error) {
          if (!(error instanceof JobFailure)) throw error;
          if (attempt >= mostAttempts) throw new RunFailure(`The API job failed ${attempt} times.`, 'config_error');
          if (error.waitSeconds > 0) await given.run.wait(error.waitSeconds, 'poll');
        }
      }
    } finally {
      given.run.jobs.give();
    }
  }

  async function targets(job: Slice): Promise<unknown[]> {
    if (!targetsOf) return [undefined];
    if (!target) return targetsOf([job.extraFields.polling_response]);
    return targetsOf([decoder.firstValue(await target.send({ slice: job }))]);
  }

  return {
    async *read(slice) {
      const job = await finishedJob(slice);
      const recordSchema = (await schema?.()) ?? {};
      for (const where of await targets(job)) {
        const own = where === undefined ? job : withNames(job, { download_target: where });
        for (let token = paginator.initialToken(); ; ) {
          const answer = await (download as Requester).send({
            slice: own,
            token,
            path: paginator.path(token),
            parts: paginator.parts(token),
          });
          if (!answer.isGood) break;
          let size = 0;
          let lastRecord: Record<string, unknown> | undefined;
          for await (const values of downloadDecoder.decode(answer)) {
            const found = await extract(values);
            answer.extractedRecords += found.length;
            size += found.length;
            const last = found.at(-1);
            if (isJsonObject(last)) lastRecord = last;
            const { records, failure } = (selector as RecordSelector).select(found, slice, token, recordSchema);
            if (records.length > 0) yield records;
            if (failure !== undefined) throw failure;
          }
          token = paginator.next({ answer, response: downloadDecoder.firstValue(answer), size, lastRecord, token });
          if (token === undefined) break;
        }
      }
      await remove?.send({ slice: job });
    },
  };
}

class JobFailure extends Error {
  /** Only a job that the API has begun and given up needs time before the next one. */
  readonly waitSeconds: number;

  constructor(waitSeconds = 0) {
    super();
    this.waitSeconds = waitSeconds;
  }
}

function readStatuses(given: Given): Map<string, Status> {
  const statuses = new Map<string, Status>();
  for (const status of ['running', 'completed', 'failed', 'timeout', 'skipped'] as const) {
    for (const word of given.texts(status)) statuses.set(word, status);
  }
  for (const word of given.texts('ignore')) statuses.set(word, 'skipped');
  return statuses;
}

const requesterKind = component('HttpRequester', 'CustomRequester');
const extractorKind = component('DpathExtractor', 'CustomRecordExtractor');
const router = component(...routerNames);

export const asyncRetrieverComponents: ComponentDefinition[] = [
  {
    name: 'AsyncRetriever',
    step: 'S4',
    words: 'Reads a stream through asynchronous API jobs: creates a job, polls it and downloads its results.',
    options: {
      creation_requester: required(requesterKind, 'Creates a job.'),
      polling_requester: required(requesterKind, 'Polls the job. Available: creation_response.'),
      download_requester: required(
        requesterKind,
        'Downloads results. Available: creation_response, polling_response and download_target.',
      ),
      download_target_requester: optional(requesterKind, 'Requests the URLs of the results.'),
      abort_requester: optional(requesterKind, 'Aborts a job that takes too long.'),
      delete_requester: optional(requesterKind, 'Deletes a job after its results are downloaded.'),
      status_extractor: required(extractorKind, 'Extracts the job status.'),
      status_mapping: required(component('AsyncJobStatusMap'), 'Maps the API statuses.'),
      download_target_extractor: optional(
        extractorKind,
        'Extracts the URLs of the results, with one download per URL.',
      ),
      download_extractor: optional(
        component('DpathExtractor', 'ResponseToFileExtractor', 'CustomRecordExtractor'),
        'Extracts the records from a download.',
      ),
      download_paginator: optional(component('DefaultPaginator', 'NoPagination'), 'Paginates a download.'),
      download_decoder: optional(component(...decoderNames), 'Decodes a download.'),
      decoder: optional(component(...decoderNames), 'Decodes all other responses.'),
      record_selector: required(component('RecordSelector'), 'Filters and transforms records.'),
      partition_router: optional(
        either(router, list(router)),
        'Splits the stream into partitions, with one job per partition.',
      ),
      polling_job_timeout: optional(either(integer, template), 'Timeout of a job in minutes.', 60),
      failed_retry_wait_time_in_seconds: optional(
        either(integer, template),
        'How long to wait before a failed job is created again.',
      ),
    },
    rule: ({ download_target_requester: target, download_target_extractor: extractor }) =>
      target && !extractor ? 'A download_target_requester requires a download_target_extractor' : undefined,
    make: makeAsyncRetriever,
  },
  {
    name: 'ResponseToFileExtractor',
    step: 'S4',
    words: 'Reads a download as CSV, compressed or not, regardless of the decoder. Streams the download.',
    options: {
      preserve_na_values: optional(boolean, 'Keeps texts such as NA and null instead of reading them as null.', false),
    },
  },
  {
    name: 'AsyncJobStatusMap',
    step: 'S4',
    words: 'Maps the job statuses of the API.',
    options: {
      running: required(list(text), 'The job is running.'),
      completed: required(list(text), 'Done.'),
      failed: required(list(text), 'The job failed and is created again, up to three times.'),
      timeout: required(list(text), 'The job timed out.'),
      skipped: optional(list(text), 'The job has nothing to download.'),
      ignore: optional(list(text), 'Older name for skipped.'),
    },
  },
];
