/** The two kinds of templates: their routes in the API and their editable fields. */
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
  /** Query parameter that filters lists by template. */
  usesFilter: 'source_template_id' | 'connection_template_id';
  nameField: string;
  definitionField: string;
  editable: readonly string[];
}

/** API routes per kind: templates, one template, its parts, and what uses it. */
export const routesOf = {
  source: {
    templates: '/integrations/templates/sources',
    template: '/integrations/templates/sources/{source_template_id}',
    plan: '/integrations/templates/sources/{source_template_id}/plans/{source_plan_id}',
    rollout: '/integrations/templates/sources/{source_template_id}/rollouts/{source_rollout_id}',
    definition: '/integrations/definitions/sources/{source_definition_id}',
    uses: '/integrations/sources',
  },
  connection: {
    templates: '/integrations/templates/connections',
    template: '/integrations/templates/connections/{connection_template_id}',
    plan: '/integrations/templates/connections/{connection_template_id}/plans/{connection_plan_id}',
    rollout: '/integrations/templates/connections/{connection_template_id}/rollouts/{connection_rollout_id}',
    definition: '/integrations/definitions/destinations/{destination_definition_id}',
    uses: '/integrations/connections',
  },
} as const;

export const kinds: Readonly<Record<Kind, KindOf>> = {
  source: {
    usesFilter: 'source_template_id',
    nameField: 'name',
    definitionField: 'source_definition_id',
    editable: ['name', 'description', 'category', 'partial_default_config', 'customization', 'oauth', 'tags'],
  },
  connection: {
    usesFilter: 'connection_template_id',
    nameField: 'destination_name',
    definitionField: 'destination_definition_id',
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

/** What the editor shows. The icon only if it is the template's own; the connector's icon has a URL of this service. */
export function editableDraft(kind: Kind, template: AnyTemplate): Draft {
  const fields = kinds[kind].editable.map((name) => [name, template[name]] as const);
  const known = Object.fromEntries(fields.filter(([, value]) => value !== undefined));
  return kind === 'source' && template.icon !== null && !isConnectorsIcon(template.icon)
    ? { ...known, icon: template.icon }
    : known;
}

const isConnectorsIcon = (address: string) => /^https?:\/\/[^?#]*\/icons\/[0-9a-f-]{36}\//.test(address);

/** The body of a change: the fields that differ. A field removed from the draft stays unchanged. */
export function changedFields(before: Draft, after: Draft): Draft {
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  );
}
