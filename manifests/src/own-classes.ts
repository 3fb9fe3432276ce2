/*
 * Components that are written in code, which the operator brings as a module of JavaScript: its exported classes, by the last
 * part of the `class_name` in the manifest. Only the command line takes such a module, because it is code.
 *
 * Each class is instantiated with `{ options, config, parameters }`: the component's options in the manifest, the
 * configuration, and the parameters. The methods that a class must have depend on the kind of component and are few on
 * purpose.
 */
import { ConnectorError } from '@inlay/protocol/connector';
import { authenticatorOf } from './authentication/authenticators.ts';
import type { ComponentDefinition, Given } from './component.ts';
import { passedOverMigration } from './components/custom.ts';
import type { Retriever, RetrieverSurroundings } from './components/retriever-surroundings.ts';
import type { PartitionRouter } from './cursors/stream-cursor.ts';
import { Answer } from './http/answer.ts';
import { exchange } from './http/exchange.ts';
import { RunFailure } from './http/failures.ts';
import { emptyParts, prepareRequest } from './http/request.ts';
import type { Action, ErrorHandler, Outcome, Resolution, WaitStrategy } from './http/resolution.ts';
import type { Names } from './interpolation.ts';
import { asText } from './manifest/problems.ts';
import { defaultErrorHandler } from './requests/error-handlers.ts';
import type { PageRead } from './requests/pagination.ts';
import type { Requester } from './requests/requester.ts';
import type { Decoder } from './run/decoder.ts';
import { type Slice, sliceView } from './run/slice.ts';
import type { SourceStream } from './run/stream.ts';

type Values = Record<string, unknown>;
type OwnClass = new (given: { options: Values; config: Values; parameters: Values }) => object;

const classes = new Map<string, OwnClass>();

/** Makes a module's exports the classes of this process, in place of those it had. */
export function useClasses(exported: Values): void {
  classes.clear();
  for (const [name, value] of Object.entries(exported)) {
    if (typeof value === 'function') classes.set(name, value as OwnClass);
  }
}

interface OwnKind {
  /** The method that the class must have. */
  method: string;
  words: string;
  make(object: Values, given: Given): unknown;
  /** What the component is where the module lacks its class. Without this, the component is an error. */
  withoutClass?: ComponentDefinition;
}

const kinds: Record<string, OwnKind> = {
  CustomRecordExtractor: {
    method: 'extract',
    words: 'Extracts the records of a body: `extract(body)` returns a list.',
    make: (own) => (values: readonly unknown[]) => values.flatMap((value) => call(own, 'extract', value) as unknown[]),
  },
  CustomRecordFilter: {
    method: 'keeps',
    words: 'Decides whether to keep a record: `keeps(record, slice)`.',
    make: (own) => (record: Values, slice: Slice) => call(own, 'keeps', record, sliceView(slice)) === true,
  },
  CustomTransformation: {
    method: 'transform',
    words: 'Changes a record in place: `transform(record, slice)`.',
    make: (own) => (record: Values, names: Names) => {
      call(own, 'transform', record, names.stream_slice);
    },
  },
  CustomAuthenticator: {
    method: 'headers',
    words:
      'Provides the headers of a request: `headers()`, which can return a promise. `query()` can also return parameters.',
    make: (own) =>
      authenticatorOf(async () => ({
        ...emptyParts(),
        headers: (await call(own, 'headers')) as Values,
        query: typeof own.query === 'function' ? ((await call(own, 'query')) as Values) : {},
      })),
  },
  CustomBackoffStrategy: {
    method: 'seconds',
    words:
      'Decides how long to wait: `seconds({ status, headers }, attempt)`. Return undefined to use the next strategy.',
    make: (own) => ({
      seconds: (outcome: Outcome, attempt: number) => {
        const answer =
          outcome instanceof ConnectorError
            ? { status: undefined, headers: {} }
            : { status: outcome.status, headers: outcome.headersByAnyCase };
        return call(own, 'seconds', answer, attempt) as number | undefined;
      },
    }),
  },
  CustomPaginationStrategy: {
    method: 'next',
    words:
      'Provides the token of the next page: `next({ response, headers, size, lastRecord, token })`. Return undefined to stop. Optional properties: `initialToken` and `pageSize`.',
    make: (own) => ({
      initialToken: own.initialToken,
      pageSize: () => own.pageSize as number | undefined,
      next: ({ answer, response, size, lastRecord, token }: PageRead) =>
        call(own, 'next', { response, headers: answer.headersByAnyCase, size, lastRecord, token }),
    }),
  },
  CustomSchemaLoader: {
    method: 'schema',
    words: 'Provides the JSON schema of a stream: `schema()`, which can return a promise.',
    make: (own) => async () => (await call(own, 'schema')) as Values,
  },
  CustomConfigTransformation: {
    method: 'transform',
    words: 'Changes the configuration in place: `transform(config)`.',
    make: (own) => (config: Values) => {
      call(own, 'transform', config);
    },
  },
  CustomStateMigration: {
    method: 'migrate',
    words: 'Migrates a state from an older version: `migrate(state)` returns the new state.',
    make: (own) => (state: Values) => call(own, 'migrate', state),
    withoutClass: passedOverMigration,
  },
  CustomDecoder: {
    method: 'decode',
    words: 'Decodes a body: `decode(bytes, headers)` returns a list, an iterable or an async iterable.',
    make(own): Decoder {
      const firsts = new WeakMap<Answer, unknown>();
      return {
        isStreamed: false,
        async *decode(answer) {
          for await (const value of each(call(own, 'decode', answer.bytes, answer.headersByAnyCase))) {
            if (!firsts.has(answer)) firsts.set(answer, value);
            yield [value];
          }
        },
        firstValue: (answer) => firsts.get(answer) ?? {},
      };
    },
  },
  CustomRequester: {
    method: 'send',
    words:
      'Sends a request: `send({ slice, token, path, query, headers, form, json }, fetch)` returns a response `{ status, headers, body }`, such as that of `fetch({ method, url, headers, body })`.',
    make(own, given): Requester {
      const fetchIt = fetchFor(given);
      return {
        async send({ slice, token, path, parts = emptyParts() }) {
          const asked = { slice: sliceView(slice), token, path, ...parts };
          const { status, headers, body } = (await call(own, 'send', asked, fetchIt)) as OwnAnswer;
          const raw = Object.entries(headers ?? {}).flatMap(([name, value]) => [name, String(value)]);
          return new Answer(status, raw, Buffer.from(body ?? ''));
        },
      };
    },
  },
  CustomErrorHandler: {
    method: 'interpret',
    words:
      'Decides what to do with a response: `interpret({ status, headers, body })` returns an action such as RETRY, or `{ action, message, failureType }`. Return undefined to use the default rules. Optional property: `maxRetries`.',
    make: (own, given): ErrorHandler => ({
      maxRetries: typeof own.maxRetries === 'number' ? own.maxRetries : defaultErrorHandler.maxRetries,
      maxSeconds: defaultErrorHandler.maxSeconds,
      waits: given.children<WaitStrategy>('backoff_strategies'),
      interpret(outcome) {
        if (!(outcome instanceof Answer)) return defaultErrorHandler.interpret(outcome);
        const found = call(own, 'interpret', shown(outcome)) as Action | Resolution | undefined;
        if (found === undefined || found === null) return defaultErrorHandler.interpret(outcome);
        return typeof found === 'string' ? { action: found } : found;
      },
    }),
  },
  CustomPartitionRouter: {
    method: 'partitions',
    words:
      'Provides the partitions of a stream: `partitions(parents)` returns an iterable or async iterable of objects. Each parent iterates over the records of a stream in `parent_stream_configs`.',
    make(own, given): PartitionRouter {
      const parents = given.children<{ stream: SourceStream }>('parent_stream_configs');
      return {
        async *slices() {
          const records = parents.map(({ stream }) => recordsOf(stream));
          for await (const partition of each(call(own, 'partitions', records))) {
            yield { partition: partition as Values, cursor: {}, extraFields: {} };
          }
        },
        parts: emptyParts,
      };
    },
  },
  CustomRetriever: {
    method: 'read',
    words:
      'Reads a slice: `read(slice, fetch)` returns an iterable or async iterable of records. The transformations of the stream run afterwards.',
    make(own, given): Retriever {
      const { transformations = [] } = given.around as RetrieverSurroundings;
      const fetchIt = fetchFor(given);
      return {
        async *read(slice) {
          const names = { stream_slice: sliceView(slice) };
          for await (const value of each(call(own, 'read', names.stream_slice, fetchIt))) {
            const record = value as Values;
            for (const change of transformations) change(record, names);
            yield [record];
          }
        },
      };
    },
  },
  CustomSchemaNormalization: {
    method: 'transform',
    words: 'Casts a record in place to the schema of its stream: `transform(record, schema)`.',
    make: (own) => (record: Values, schema: Values) => {
      call(own, 'transform', record, schema);
    },
  },
  CustomValidationStrategy: {
    method: 'validate',
    words: 'Validates a configuration value: `validate(value)` throws an Error that says what to change.',
    make: (own) => (value: unknown) => {
      try {
        call(own, 'validate', value);
      } catch (error) {
        throw new RunFailure((error as Error).message, 'config_error', { cause: error });
      }
    },
  },
};

/** A response as classes receive and return it. */
interface OwnAnswer {
  status: number;
  headers: Values;
  body: Buffer | string;
}

function shown(answer: Answer): OwnAnswer {
  return { status: answer.status, headers: answer.headersByAnyCase, body: answer.bytes };
}

/** Sends requests for a class: through the guarded client, by the call budget and by the error handler of the component. */
function fetchFor(given: Given): (request: Values) => Promise<OwnAnswer> {
  const handler = given.child<ErrorHandler>('error_handler') ?? defaultErrorHandler;
  return async ({ method = 'GET', url, headers = {}, body }) => {
    const prepared = prepareRequest(String(method), String(url), { ...emptyParts(), headers: headers as Values });
    const request = { ...prepared, body: body === undefined ? undefined : String(body) };
    return shown(await exchange(given.run, request, { streamName: given.making.streamName, handler }));
  };
}

/** Result of a class: a list, an iterable or async iterable, or a promise of one. */
async function* each(given: unknown): AsyncGenerator<unknown> {
  yield* (await given) as Iterable<unknown>;
}

async function* recordsOf({ cursor, read }: SourceStream): AsyncGenerator<Values> {
  for await (const slice of cursor.slices()) for await (const records of read(slice)) yield* records;
}

function call(own: Values, method: string, ...given: unknown[]): unknown {
  return (own[method] as (...given: unknown[]) => unknown)(...given);
}

const lastPart = (className: unknown) => String(className).split('.').at(-1) ?? '';

const definitions = new Map(
  Object.entries(kinds).map(([name, kind]): [string, ComponentDefinition] => [
    name,
    {
      name,
      step: 'S1',
      words: kind.words,
      options: {},
      rule: ({ class_name: className }) => {
        const own = classes.get(lastPart(className));
        if (!own) return kind.withoutClass ? undefined : `${name} "${asText(className)}" requires code`;
        if (typeof own.prototype?.[kind.method] === 'function') return undefined;
        return `The class ${lastPart(className)} has no method ${kind.method}`;
      },
      note: (component) =>
        classes.has(lastPart(component.class_name)) ? undefined : kind.withoutClass?.note?.(component),
      make: (given) => {
        const own = classes.get(lastPart(given.value('class_name')));
        if (!own && kind.withoutClass?.make) return kind.withoutClass.make(given);
        if (!own) throw new Error(`Unknown class ${asText(given.value('class_name'))}.`);
        const made = new own({ options: given.values, config: given.config, parameters: given.parameters });
        return kind.make(bound(made as Values), given);
      },
    },
  ]),
);

/** Methods that can be called without their object. */
function bound(object: Values): Values {
  return new Proxy(object, {
    get: (target, name) => {
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Undefined without any code: then a manifest is only data. */
export function ownDefinitionOf(name: string): ComponentDefinition | undefined {
  return classes.size === 0 ? undefined : definitions.get(name);
}
