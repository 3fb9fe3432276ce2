import { describe, expect, it } from 'vitest';
import { githubLike, postgresLike } from '../../../widget/test/specifications.ts';
import { faultNamedBy } from './named-fault.ts';

const of = (...names: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
});
const pathNamedBy = (message: string, specification: Record<string, unknown>) =>
  faultNamedBy(message, specification)?.path;

describe('the field that a message names', () => {
  it('is found by title or key, whatever the case', () => {
    const message = 'password authentication failed';
    expect(faultNamedBy(message, postgresLike)).toEqual({ path: ['password'], message });
    expect(pathNamedBy('The database name is unknown', postgresLike)).toEqual(['database']);
    expect(pathNamedBy('bad value for "jdbc_url_params"', postgresLike)).toEqual(['jdbc_url_params']);
    expect(pathNamedBy('Invalid apiKey.', of('api_key'))).toEqual(['api_key']);
  });

  it('is found inside the branches of a choice', () => {
    expect(pathNamedBy('Bad personal access tokens', githubLike)).toEqual(['credentials', 'personal_access_token']);
  });

  it('is the one with the longest name', () => {
    expect(pathNamedBy('The start date is after the end', of('start', 'start_date', 'date'))).toEqual(['start_date']);
  });

  it('is none where only a part of a word fits', () => {
    expect(pathNamedBy('Unhosted and reported', postgresLike)).toBeUndefined();
  });

  it('is none where two are named alike', () => {
    expect(pathNamedBy('No such host or port', of('host', 'port'))).toBeUndefined();
    expect(pathNamedBy('Something went wrong', postgresLike)).toBeUndefined();
  });

  it('is none that nobody sees', () => {
    const hidden = {
      type: 'object',
      properties: { host: { type: 'string', airbyte_hidden: true }, kind: { const: 'x' } },
    };
    expect(pathNamedBy('bad host and kind', hidden)).toBeUndefined();
  });
});
