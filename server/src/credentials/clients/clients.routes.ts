/** The endpoints about OAuth clients, for operators. No answer holds a secret. */
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance } from 'fastify';
import { serve } from '../../kernel/http/endpoint.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import { causedBy } from '../../log/events/journal.ts';
import type { OAuthContext } from '../context.ts';
import * as clients from './clients.ts';
import { presets } from './presets.ts';

export function oauthClientRoutes(app: FastifyInstance, ctx: OAuthContext): void {
  serve(app, operations.oauthProviders, {
    list: async () => ({ data: Object.entries(presets).map(presentPreset) }),
  });

  serve(app, operations.oauthClients, {
    list: async ({ principal }) => ({ data: await clients.listClients(ctx, principal.organizationId) }),
    create: ({ principal, body, cause }) => clients.createClient(causedBy(ctx, cause), principal.organizationId, body),
    get: ({ principal, params }) => clients.getClient(ctx, principal.organizationId, params.oauth_client_id),

    update: ({ principal, params, body, cause }) =>
      clients.updateClient(causedBy(ctx, cause), principal.organizationId, params.oauth_client_id, body),

    rotateSecret: ({ principal, params, body, cause }) =>
      clients.rotateSecret(causedBy(ctx, cause), principal.organizationId, params.oauth_client_id, body),

    delete: async ({ principal, params, cause }) => {
      const { organizationId } = principal;
      const deleted = await clients.deleteClient(causedBy(ctx, cause), organizationId, params.oauth_client_id);
      return { id: deleted.id, deleted_at: isoTime(deleted.deletedAt) };
    },
  });
}

function presentPreset([key, preset]: [string, (typeof presets)[string]]) {
  const { name, documentation, tried, notes, own_suffixes: _, ...endpoints } = preset;
  return { key, name, documentation, tried, notes: notes ?? null, endpoints };
}
