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
    throw new Error('An AsyncRetriever lacks a requester or an extractor.');
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
          `The API reports the job status "${pythonText(found ?? '')}", which the manifest does not know.`,
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

  /** A job that cannot be aborted ends by itself some time. */
  async function abortJob(job: Slice): Promise<void> {
    try {
      await abort?.send({ slice: job });
    } catch (error) {
      if (!(error instanceof RunFailure)) throw error;
      given.run.log('WARN', `${streamName}: a job could not be aborted. ${error.message}`);
    }
  }

  /** An API that takes no job is asked again like one whose job has failed, unless the credentials are to blame. */
  async function startJob(slice: Slice): Promise<Answer> {
    try {
      const created = await (create as Requester).send({ slice });
      if (created.isGood) return created;
    } catch (error) {
      if (!(error instanceof RunFailure) || error.failureType === 'config_error') throw error;
      given.run.log('WARN', `${streamName}: a job could not be started. ${error.message}`);
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
          if (attempt >= mostAttempts)
            throw new RunFailure(`A job of the API has failed ${attempt} times.`, 'config_error');
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
    words: 'Reads a stream by jobs of the API: asks for one, waits for it, and downloads what it made.',
    options: {
      creation_requester: required(requesterKind, 'Asks for a job.'),
      polling_requester: required(requesterKind, 'Asks how the job is. Knows creation_response.'),
      download_requester: required(
        requesterKind,
        'Downloads. Knows creation_response, polling_response and download_target.',
      ),
      download_target_requester: optional(requesterKind, 'Asks where the results are.'),
      abort_requester: optional(requesterKind, 'Ends a job that takes too long.'),
      delete_requester: optional(requesterKind, 'Removes a job that was downloaded.'),
      status_extractor: required(extractorKind, 'Finds the status of the job.'),
      status_mapping: required(component('AsyncJobStatusMap'), 'What the words of the API mean.'),
      download_target_extractor: optional(extractorKind, 'Finds where the results are; one download for each.'),
      download_extractor: optional(
        component('DpathExtractor', 'ResponseToFileExtractor', 'CustomRecordExtractor'),
        'Finds the records in a download.',
      ),
      download_paginator: optional(component('DefaultPaginator', 'NoPagination'), 'Pages of a download.'),
      download_decoder: optional(component(...decoderNames), 'Reads a download.'),
      decoder: optional(component(...decoderNames), 'Reads the other answers.'),
      record_selector: required(component('RecordSelector'), 'Filters and changes records.'),
      partition_router: optional(either(router, list(router)), 'Cuts the stream into partitions: a job for each.'),
      polling_job_timeout: optional(either(integer, template), 'How long a job may take, in minutes.', 60),
      failed_retry_wait_time_in_seconds: optional(
        either(integer, template),
        'How long to wait before a job that the API has given up is asked for again.',
      ),
    },
    rule: ({ download_target_requester: target, download_target_extractor: extractor }) =>
      target && !extractor ? 'A download_target_requester needs a download_target_extractor' : undefined,
    make: makeAsyncRetriever,
  },
  {
    name: 'ResponseToFileExtractor',
    step: 'S4',
    words: 'Reads a download as a table of CSV, packed or not, whatever the decoder. It is read while it comes.',
    options: {
      preserve_na_values: optional(boolean, 'Keeps texts such as NA and null; otherwise they are null.', false),
    },
  },
  {
    name: 'AsyncJobStatusMap',
    step: 'S4',
    words: 'What the words of the API for a job mean.',
    options: {
      running: required(list(text), 'Not done yet.'),
      completed: required(list(text), 'Done.'),
      failed: required(list(text), 'Failed: it is asked for again, up to three times.'),
      timeout: required(list(text), 'Took too long.'),
      skipped: optional(list(text), 'There is nothing to download.'),
      ignore: optional(list(text), 'An older name for skipped.'),
    },
  },
];
