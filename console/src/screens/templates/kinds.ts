/** The two kinds of templates: where each is in the API, and which of its fields a person may change. */
import type { Draft } from './draft.ts';

export type Kind = 'source' | 'connection';
export type AnyTemplate = Record<string, unknown> & {
  id: string;
  tags: string[];
  version: number;
  updated_at: string;
  icon: string | null;
};

interface KindOf {
  path: string;
  /** The list in which what was made from it is found, and the filter there. */
  uses: { path: string; filter: string };
  nameField: string;
  definitionField: string;
  definitionsPath: string;
  editable: readonly string[];
}

const templates = '/integrations/templates';

export const kinds: Readonly<Record<Kind, KindOf>> = {
  source: {
    path: `${templates}/sources`,
    uses: { path: '/integrations/sources', filter: 'source_template_id' },
    nameField: 'name',
    definitionField: 'source_definition_id',
    definitionsPath: '/integrations/definitions/sources',
    editable: ['name', 'description', 'category', 'partial_default_config', 'customization', 'oauth', 'tags'],
  },
  connection: {
    path: `${templates}/connections`,
    uses: { path: '/integrations/connections', filter: 'connection_template_id' },
    nameField: 'destination_name',
    definitionField: 'destination_definition_id',
    definitionsPath: '/integrations/definitions/destinations',
    editable: [
      'destination_name',
      'destination_config',
      'cron_expression',
      'non_breaking_changes_preference',
      'sync_on_create',
      'namespace_format',
      'prefix',
      'customer_may_change',
      'tags',
    ],
  },
};

export const kindOf = (text: string | null): Kind => (text === 'connection' ? 'connection' : 'source');

export const nameOf = (kind: Kind, template: AnyTemplate) => String(template[kinds[kind].nameField] ?? '');

/** What the editor shows. The picture only where it is the template's own: a connector's has an address of this service. */
export function editableDraft(kind: Kind, template: AnyTemplate): Draft {
  const fields = kinds[kind].editable.map((name) => [name, template[name]] as const);
  const known = Object.fromEntries(fields.filter(([, value]) => value !== undefined));
  return kind === 'source' && template.icon !== null && !isConnectorsIcon(template.icon)
    ? { ...known, icon: template.icon }
    : known;
}

const isConnectorsIcon = (address: string) => /^https?:\/\/[^?#]*\/icons\/[0-9a-f-]{36}\//.test(address);

/** The body of a change: the fields that differ. A field that was taken out stays as it is. */
export function changedFields(before: Draft, after: Draft): Draft {
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  );
}
