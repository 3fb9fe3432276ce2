/** Fields that requests of several folders have in common, and the query that every list takes. */
import Type, { type Static } from 'typebox';

const uuidPattern = '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}';

export const Uuid = Type.String({ pattern: `^${uuidPattern}$` });

/**
 * Text that the database returns exactly as sent. Lone surrogates have no UTF-8 form, and the database's driver
 * truncates text at U+0000.
 */
const storable = '^[^\\0\\p{Surrogate}]*$';
export const Text = Type.String({ pattern: storable });
export const Name = Type.String({ minLength: 1, pattern: storable });

/** Of workers, and what workspaces want of them. */
const word = { type: 'string', pattern: '^[A-Za-z0-9]([A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?$' } as const;
export type Labels = Record<string, string>;
export const Labels = Type.Unsafe<Labels>({
  type: 'object',
  maxProperties: 20,
  propertyNames: word,
  additionalProperties: word,
});

export const workspaceIdsParameter = {
  /** Repeated or joined by commas. */
  workspaceIds: Type.Optional(Type.Array(Type.String({ pattern: `^${uuidPattern}(,${uuidPattern})*$` }))),
};

export const pageParameters = {
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
  offset: Type.Integer({ minimum: 0, maximum: 2_147_483_647, default: 0 }),
};

export const listParameters = {
  ...workspaceIdsParameter,
  includeDeleted: Type.Boolean({ default: false }),
  ...pageParameters,
};

export const ListQuery = Type.Object(listParameters);
export type ListQuery = Static<typeof ListQuery>;

/** The workspaces that a list is limited to; undefined means all of them. */
export function workspaceIdsOf(query: { workspaceIds?: string[] }): string[] | undefined {
  return query.workspaceIds?.flatMap((joined) => joined.toLowerCase().split(','));
}
