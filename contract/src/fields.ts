/**
 * Fields shared by several schemas. A `format` named here is enforced by the server
 * (server/src/kernel/http/validation.ts).
 */
import { Type } from 'typebox';

export const regions = {
  us: '645a183f-b12b-4c6e-8ad3-99e165603450',
  eu: 'b9e48d61-f082-4a14-a8d0-799a907938cb',
} as const;

export const workspaceStatuses = ['active', 'inactive'] as const;
export type WorkspaceStatus = (typeof workspaceStatuses)[number];

export const tagModes = ['any', 'all'] as const;
export type TagMode = (typeof tagModes)[number];

/** Permissions of an operator token, from most to least. */
export const operatorPermissions = ['full', 'operator', 'read'] as const;
export type OperatorPermission = (typeof operatorPermissions)[number];

/** A closed list of strings, in a form that validation, serialization and OpenAPI all support. */
export function Enumeration<const T extends readonly string[]>(members: T, options: object = {}) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...members], ...options });
}

export const Uuid = (description: string, example: string) =>
  Type.String({ format: 'uuid', description, examples: [example] });

export const Timestamp = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-01-31T09:30:00.000Z'] });

export const WorkspaceName = Type.String({
  format: 'name',
  minLength: 1,
  maxLength: 255,
  description:
    '1 to 255 characters, kept as sent. Compared case-sensitively after Unicode NFC normalization. Blank names, control characters, lone surrogates and bidirectional controls are rejected.',
  examples: ['acme-inc'],
});

export const RegionId = Type.Unsafe<string>({
  type: 'string',
  format: 'uuid',
  enum: [regions.us, regions.eu],
  default: regions.us,
  description: `Region of a new workspace: US (\`${regions.us}\`, the default) or EU (\`${regions.eu}\`). Ignored if the workspace exists.`,
  examples: [regions.us],
});

export const Tag = Type.String({
  format: 'tag',
  minLength: 1,
  maxLength: 255,
  description: '1 to 255 characters without control characters.',
});
