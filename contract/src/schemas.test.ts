/** The schemas that cross the wire have exactly the fields of the specification. */
import { describe, expect, it } from 'vitest';
import { ErrorBody, Fault, ValidationErrorBody } from './errors.ts';
import { regions, tagModes, workspaceStatuses } from './fields.ts';
import {
  ScopedTokenInfo,
  ScopedTokenRequest,
  TokenResponse,
  WidgetTokenEnvelope,
  WidgetTokenRequest,
} from './tenancy/tokens.ts';
import {
  DeletedWorkspace,
  ListWorkspacesQuery,
  SyncResult,
  UpdateWorkspaceRequest,
  Workspace,
  WorkspacePage,
  WorkspacePath,
  WorkspaceStatistics,
} from './tenancy/workspaces.ts';

interface Shape {
  properties: Record<string, { type?: unknown; format?: string; enum?: string[]; default?: unknown }>;
  required?: string[];
}
const shapeOf = (schema: unknown) => {
  const { properties, required = [] } = schema as Shape;
  return { fields: Object.keys(properties), required };
};
const all = (...fields: string[]) => ({ fields, required: fields });

describe('schemas', () => {
  it.each([
    ['Workspace', Workspace, all('id', 'name', 'organization_id', 'status', 'created_at', 'updated_at')],
    ['Workspace page', WorkspacePage, all('data', 'next')],
    ['Deleted-workspace result', DeletedWorkspace, all('id', 'deleted_at')],
    ['Workspace statistics', WorkspaceStatistics, all('active_count', 'inactive_count', 'total_count')],
    ['Sync result', SyncResult, all('total_count', 'created_count', 'created_workspace IDs')],
    ['Token response', TokenResponse, all('token')],
    ['Scoped token information', ScopedTokenInfo, all('organization_id', 'workspace ID')],
    ['the JSON inside a widget token', WidgetTokenEnvelope, all('token', 'widgetUrl')],
    ['error', ErrorBody, all('detail')],
    ['validation error', ValidationErrorBody, all('detail')],
    ['fault', Fault, all('loc', 'msg', 'type')],
    ['path', WorkspacePath, all('workspace_id')],
    ['update request', UpdateWorkspaceRequest, { fields: ['name', 'status'], required: [] }],
    ['list query', ListWorkspacesQuery, { fields: ['name_contains', 'status', 'limit', 'cursor'], required: [] }],
    [
      'scoped token request',
      ScopedTokenRequest,
      { fields: ['workspace_name', 'region_id', 'expires_in_seconds'], required: ['workspace_name'] },
    ],
    [
      'widget token request',
      WidgetTokenRequest,
      {
        fields: [
          'workspace_name',
          'allowed_origin',
          'region_id',
          'selected_source_template_tags',
          'selected_source_template_tags_mode',
          'selected_connection_template_tags',
          'selected_connection_template_tags_mode',
          'theme',
          'locale',
          'customer_label',
          'expires_in_seconds',
        ],
        required: ['workspace_name', 'allowed_origin'],
      },
    ],
  ])('%s', (_name, schema, shape) => {
    expect(shapeOf(schema)).toEqual(shape);
  });

  it('regions, statuses and modes are those of the specification', () => {
    expect(regions).toEqual({
      us: '645a183f-b12b-4c6e-8ad3-99e165603450',
      eu: 'b9e48d61-f082-4a14-a8d0-799a907938cb',
    });
    expect(workspaceStatuses).toEqual(['active', 'inactive']);
    expect(tagModes).toEqual(['any', 'all']);
  });

  it('defaults are those of the specification', () => {
    const defaultOf = (schema: unknown, field: string) => (schema as Shape).properties[field]?.default;
    expect(defaultOf(ScopedTokenRequest, 'region_id')).toBe(regions.us);
    expect(defaultOf(WidgetTokenRequest, 'region_id')).toBe(regions.us);
    for (const of of ['source', 'connection']) {
      expect(defaultOf(WidgetTokenRequest, `selected_${of}_template_tags`)).toEqual([]);
      expect(defaultOf(WidgetTokenRequest, `selected_${of}_template_tags_mode`)).toBe('any');
    }
    expect((ListWorkspacesQuery as unknown as Shape).properties.limit).toMatchObject({
      type: 'integer',
      minimum: 1,
      maximum: 100,
      default: 20,
    });
  });
});
