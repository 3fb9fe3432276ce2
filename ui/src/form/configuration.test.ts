import { specification as file } from '@inlay/connectors/file/specification';
import { specification as httpApi } from '@inlay/connectors/http-api/specification';
import { specification as s3 } from '@inlay/connectors/s3/specification';
import { specification as sampleData } from '@inlay/connectors/sample-data/specification';
import { specification as sourcePostgres } from '@inlay/connectors/source-postgres/specification';
import { isObject, type JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLongRun } from '../../../scripts/long-run.ts';
import { configured } from '../../../widget/test/generated-specifications.ts';
import {
  everyConvention,
  githubLike,
  postgresLike,
  sheetsLike,
  stripeLike,
} from '../../../widget/test/specifications.ts';
import { chosenBranch, initialValue, openedValue, submittedValue, switchBranch } from './configuration.ts';
import { type ChoiceField, readSpecification } from './fields.ts';
import { faultsOf } from './validation.ts';
import form from './words/en.ts';

function submittedNew(specification: JsonSchema, entered: Record<string, unknown> = {}): unknown {
  const root = readSpecification(specification);
  return submittedValue(root, { ...(initialValue(root) as object), ...entered });
}

function submittedAgain(specification: JsonSchema, value: Record<string, unknown>, change: object = {}): unknown {
  const root = readSpecification(specification);
  return submittedValue(root, { ...(openedValue(root, value) as object), ...change }, value);
}

/** What a form leaves behind where something was entered and taken back. */
function withTraces(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withTraces);
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([key, member]) => [key, withTraces(member)]);
  return { ...Object.fromEntries(members), 'taken back': undefined };
}

describe('a new form', () => {
  it('starts with the defaults, constants and hidden values, and submits them', () => {
    expect(submittedNew(everyConvention)).toEqual({
      kind: 'everything',
      internal: 'kept',
      plan: { plan: 'free' },
      streams: [{ format: { type: 'csv', delimiter: ',' } }],
    });
    expect(submittedNew(postgresLike)).toEqual({
      port: 5432,
      ssl_mode: { mode: 'require' },
      tunnel_method: { tunnel_method: 'NO_TUNNEL' },
    });
    expect(submittedNew(sourcePostgres.connectionSpecification)).toEqual({
      port: 5432,
      ssl_mode: { mode: 'prefer' },
      schemas: ['public'],
    });
  });

  it('leaves out what is empty', () => {
    const entered = { host: '', schemas: ['', 'public', null], username: undefined };
    expect(submittedNew(postgresLike, entered)).toMatchObject({ schemas: ['public'] });
    expect(Object.keys(submittedNew(postgresLike, entered) as object)).not.toContain('host');
  });

  it('turns rows of numbers into numbers, and leaves alone what is none', () => {
    expect(submittedNew(everyConvention, { numbers: ['1', '2.5', 'x', ''] })).toMatchObject({ numbers: [1, 2.5, 'x'] });
  });

  it('asks nobody to complete an optional object in which nothing was entered', () => {
    expect(submittedNew(everyConvention, { proxy: { port: 8080 } })).not.toHaveProperty('proxy');
    expect(submittedNew(everyConvention, { proxy: { port: 8080, host: '' } })).not.toHaveProperty('proxy');
    expect(submittedNew(everyConvention, { proxy: { port: 1 } })).toMatchObject({ proxy: { port: 1 } });
    expect(submittedNew(everyConvention, { proxy: { host: 'h', port: 8080 } })).toMatchObject({ proxy: { host: 'h' } });
  });

  it('does not drop a branch that was chosen and not completed', () => {
    const chosen = { tunnel_method: { tunnel_method: 'SSH_KEY_AUTH', tunnel_port: 22 } };
    expect(submittedNew(postgresLike, chosen)).toMatchObject(chosen);
  });

  it('sends false for a switch that has to be there', () => {
    const switches = { a: { type: 'boolean' }, b: { type: 'boolean' } };
    expect(submittedNew({ type: 'object', required: ['a'], properties: switches })).toEqual({ a: false });
  });

  it.each([
    ['file', file],
    ['http-api', httpApi],
    ['s3', s3],
    ['sample-data', sampleData],
    ['source-postgres', sourcePostgres],
  ])('of the bundled connector %s starts without any fault but missing values', (_, { connectionSpecification }) => {
    const root = readSpecification(connectionSpecification);
    const messages = faultsOf(root, submittedNew(connectionSpecification), form.faults).map(({ message }) => message);
    const { required, choose } = form.faults;
    expect(messages.filter((message) => message !== required && message !== choose)).toEqual([]);
  });
});

describe('an existing configuration', () => {
  it('that is not touched is submitted as it was', () => {
    fc.assert(
      fc.property(configured, ({ specification, configuration }) => {
        const root = readSpecification(specification);
        const opened = openedValue(root, configuration);
        expect(opened).toEqual(configuration);
        const submitted = submittedValue(root, withTraces(opened), configuration);
        expect(submitted).toEqual(configuration);
        expect(faultsOf(root, submitted, form.faults, configuration)).toEqual([]);
      }),
      { numRuns: isLongRun ? 300 : 100 },
    );
  });

  it('gets only the constants that it lacks', () => {
    const value = {
      host: 'h',
      port: 1,
      database: 'd',
      username: 'u',
      extra: { deep: true },
      schemas: [],
      password: null,
    };
    expect(submittedAgain(postgresLike, value)).toEqual(value);
    expect(submittedAgain(everyConvention, { name: 'x' })).toMatchObject({ name: 'x', kind: 'everything' });
  });

  it('keeps masks and unknown keys when something else is changed', () => {
    const value = { client_secret: '**********', account_id: 'acct_1', unknown: [1] };
    expect(submittedAgain(stripeLike, value, { account_id: 'acct_2' })).toEqual({ ...value, account_id: 'acct_2' });
  });

  it('loses what was emptied', () => {
    const value = { client_secret: '**********', account_id: 'acct_1', lookback_window_days: 3 };
    expect(submittedAgain(stripeLike, value, { lookback_window_days: undefined })).toEqual({
      client_secret: '**********',
      account_id: 'acct_1',
    });
  });
});

describe('the branch of a choice', () => {
  const choiceOf = (specification: JsonSchema, key: string) =>
    readSpecification(specification).fields.find((field) => field.key === key) as ChoiceField;
  const titleOf = (choice: ChoiceField, value: unknown) => chosenBranch(choice, value)?.title;

  it('is found by the value that distinguishes it, in the newer and the older way', () => {
    const ssl = choiceOf(postgresLike, 'ssl_mode');
    expect(titleOf(ssl, { mode: 'verify-ca', ca_certificate: '**********' })).toBe('verify-ca');
    expect(titleOf(ssl, { mode: 'unheard of' })).toBeUndefined();
    expect(titleOf(ssl, {})).toBeUndefined();
    expect(titleOf(ssl, undefined)).toBeUndefined();
    expect(titleOf(choiceOf(sheetsLike, 'credentials'), { auth_type: 'Service' })).toBe('Service Account Key');
  });

  it('is found by what it needs where nothing else distinguishes it', () => {
    const specification = {
      type: 'object',
      properties: {
        login: {
          type: 'object',
          oneOf: [
            { title: 'Token', required: ['token'], properties: { token: { type: 'string' } } },
            { title: 'Password', required: ['user', 'password'], properties: { user: {}, password: {} } },
          ],
        },
      },
    };
    const login = choiceOf(specification, 'login');
    expect(titleOf(login, { user: 'u', password: 'p' })).toBe('Password');
    expect(titleOf(login, { token: 't' })).toBe('Token');
    expect(titleOf(login, { user: 'u' })).toBeUndefined();
  });

  it('takes along what both know, and leaves the rest', () => {
    const tunnel = choiceOf(postgresLike, 'tunnel_method');
    const [none, key, password] = tunnel.branches;
    if (!none || !key || !password) throw new Error('the specification has three branches');
    const before = { tunnel_method: 'SSH_KEY_AUTH', tunnel_host: 'jump', tunnel_port: 2222, ssh_key: 'k', odd: 1 };
    expect(switchBranch(key, password, before)).toEqual({
      tunnel_method: 'SSH_PASSWORD_AUTH',
      tunnel_host: 'jump',
      tunnel_port: 2222,
    });
    expect(switchBranch(key, none, before)).toEqual({ tunnel_method: 'NO_TUNNEL' });
    expect(switchBranch(none, key, { tunnel_method: 'NO_TUNNEL' }, before)).toEqual(before);
  });

  it('does not take along an answer to another question of the same name', () => {
    const branch = (value: string, of: JsonSchema) => ({ properties: { t: { const: value }, x: of } });
    const specification = {
      type: 'object',
      properties: {
        it: {
          oneOf: [
            branch('a', { enum: ['p', 'q'] }),
            branch('b', { enum: ['r', 's'] }),
            branch('c', { type: 'integer' }),
          ],
        },
      },
    };
    const [a, b, c] = choiceOf(specification, 'it').branches;
    if (!a || !b || !c) throw new Error('the specification has three branches');
    expect(switchBranch(a, b, { t: 'a', x: 'p' })).toEqual({ t: 'b' });
    expect(switchBranch(a, c, { t: 'a', x: 'p' })).toEqual({ t: 'c' });
  });

  it('is opened as it is in a list', () => {
    const value = {
      streams: [
        { name: 'a', format: { type: 'json' } },
        { name: 'b', format: { type: 'csv' } },
      ],
    };
    const opened = openedValue(readSpecification(everyConvention), value);
    expect(isObject(opened) && opened.streams).toEqual(value.streams);
    expect(titleOf(choiceOf(githubLike, 'credentials'), { option_title: 'PAT Credentials' })).toBe(
      'Personal Access Token',
    );
  });
});
