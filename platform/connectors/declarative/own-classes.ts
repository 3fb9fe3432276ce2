/*
 * Components that are written in code, which the operator brings as a module of JavaScript: its exported classes, by the last
 * part of the `class_name` in the manifest. Only the command line takes such a module, because it is code.
 *
 * Each class is made with `{ options, config, parameters }`: what the manifest gives the component, the configuration, and
 * the parameters. What a class then has to have depends on the kind of the component, and is small on purpose.
 */
import { pathToFileURL } from 'node:url';
import { ConnectorError } from '../kit/connector.ts';
import type { ComponentDefinition, Given } from './component.ts';
import { authenticatorOf } from './components/authenticators.ts';
import type { PageRead } from './components/pagination.ts';
import { emptyParts } from './http/request.ts';
import type { Outcome } from './http/resolution.ts';
import type { Names } from './interpolation.ts';
import { type Slice, sliceView } from './run/slice.ts';

type Values = Record<string, unknown>;
type OwnClass = new (given: { options: Values; config: Values; parameters: Values }) => object;

const classes = new Map<string, OwnClass>();

/** Loads the module. Its classes count for the rest of this process. */
export async function useClasses(file: string): Promise<void> {
  const exported: Values = await import(pathToFileURL(file).href);
  for (const [name, value] of Object.entries(exported)) {
    if (typeof value === 'function') classes.set(name, value as OwnClass);
  }
}

interface OwnKind {
  /** The method that the class must have. */
  method: string;
  words: string;
  make(object: Values, given: Given): unknown;
}

const kinds: Record<string, OwnKind> = {
  CustomRecordExtractor: {
    method: 'extract',
    words: 'The records of a body: `extract(body)` gives a list.',
    make: (own) => (values: readonly unknown[]) => values.flatMap((value) => call(own, 'extract', value) as unknown[]),
  },
  CustomRecordFilter: {
    method: 'keeps',
    words: 'Whether a record is taken: `keeps(record, slice)`.',
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
    words: 'The headers of a request: `headers()`, which may be a promise. `query()` may give parameters as well.',
    make: (own) =>
      authenticatorOf(async () => ({
        ...emptyParts(),
        headers: (await call(own, 'headers')) as Values,
        query: typeof own.query === 'function' ? ((await call(own, 'query')) as Values) : {},
      })),
  },
  CustomBackoffStrategy: {
    method: 'seconds',
    words: 'How long to wait: `seconds({ status, headers }, attempt)`; undefined leaves it to the next strategy.',
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
      'The token of the next page: `next({ response, headers, size, lastRecord, token })`; undefined ends. `initialToken` and `pageSize` may be properties.',
    make: (own) => ({
      initialToken: own.initialToken,
      pageSize: () => own.pageSize as number | undefined,
      next: ({ answer, response, size, lastRecord, token }: PageRead) =>
        call(own, 'next', { response, headers: answer.headersByAnyCase, size, lastRecord, token }),
    }),
  },
  CustomSchemaLoader: {
    method: 'schema',
    words: 'The JSON schema of a stream: `schema()`, which may be a promise.',
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
    words: 'Brings a state of an older version up to date: `migrate(state)` gives the state.',
    make: (own) => (state: Values) => call(own, 'migrate', state),
  },
};

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
        if (!own) return `${name} "${String(className)}" needs code`;
        if (typeof own.prototype?.[kind.method] === 'function') return undefined;
        return `The class ${lastPart(className)} has no method ${kind.method}`;
      },
      make: (given) => {
        const own = classes.get(lastPart(given.value('class_name')));
        if (!own) throw new Error(`There is no class ${String(given.value('class_name'))}.`);
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

/** Undefined while there is no code at all: then a manifest is only data. */
export function ownDefinitionOf(name: string): ComponentDefinition | undefined {
  return classes.size === 0 ? undefined : definitions.get(name);
}
