/**
 * Widget tokens: a scoped token bound to one origin, with the address of the widget page. The address is signed, so
 * that the page can be served with the right `frame-ancestors`; the signature covers the whole query to the letter.
 * What the widget may see is decided by the claims inside the scoped token, never by the address.
 */
import { timingSafeEqual } from 'node:crypto';
import type { TemplateFilterRequest } from '@inlay/contract/catalog/template-filters';
import type { WidgetTheme } from '@inlay/contract/embedding';
import type { WidgetTokenEnvelope, WidgetTokenRequest } from '@inlay/contract/tenancy/tokens';
import { serializeOrigin } from '@inlay/contract/text/origins';
import { invalidRequest } from '../../kernel/errors.ts';
import type { TemplateFilters, Viewer } from '../../kernel/principals.ts';
import type { IssuedToken, ScopedTokens, TokenSubject } from './scoped-tokens.ts';
import type { SigningKeys } from './signing-keys.ts';

/** The limit for all tags together, so that the token fits into a header and the address into a request line. */
const maxTagBytes = 4_096;
const maxQueryLength = 12_000;
const viewSeconds = 15 * 60;

interface WidgetAddress {
  workspaceId: string;
  allowedOrigin: string;
  /** Whether an operator looks at it: the page then has no origin, and reaches nothing of the browser. */
  isView: boolean;
}

interface WidgetSettings {
  /** What a widget offers. */
  filters: TemplateFilters;
  /**
   * The query of the address: the filters, the theme and the language. Theme and language are only here: they allow
   * nothing.
   */
  query: string;
  customerLabel: string | undefined;
}

export interface ViewOfWidget extends WidgetTokenEnvelope {
  /** ID of the inner token. */
  tokenId: string;
  expiresAt: number;
}

export interface WidgetTokens {
  /** Works as long as the scoped token inside. */
  issue(
    subject: TokenSubject,
    allowedOrigin: string,
    settings: WidgetSettings,
    lifetimeSeconds: number | undefined,
  ): IssuedToken;
  /** For an operator who looks at what the customer sees. The page is framed by our own console. */
  issueView(subject: TokenSubject, viewer: Viewer, settings: WidgetSettings): ViewOfWidget;
  /** What a widget address says, if its signature is right. */
  readAddress(query: string): WidgetAddress | undefined;
}

export function createWidgetTokens(scopedTokens: ScopedTokens, keys: SigningKeys, publicUrl: string): WidgetTokens {
  function addressOf(workspaceId: string, allowedOrigin: string, query: string): string {
    const signed = `workspaceId=${workspaceId}&allowedOrigin=${formEncoded(allowedOrigin)}&${query}`;
    const key = keys.current();
    return `${publicUrl}/widget?${signed}&sig=${key.kid}.${key.mac(signed)}`;
  }

  const ownOrigin = new URL(publicUrl).origin;

  return {
    issueView(subject, viewer, settings) {
      const { filters: templateFilters } = settings;
      const claims = { ...subject, allowedOrigin: ownOrigin, templateFilters, viewer };
      const { token, tokenId, expiresAt = 0 } = scopedTokens.issue(claims, viewSeconds);
      const address = addressOf(subject.workspaceId, ownOrigin, `${settings.query}&view=true`);
      return { token, widgetUrl: `${address}#${token}`, tokenId, expiresAt };
    },
    issue(subject, allowedOrigin, settings, lifetimeSeconds) {
      const { filters: templateFilters, customerLabel } = settings;
      const claims = { ...subject, allowedOrigin, templateFilters, customerLabel };
      const { token, tokenId, expiresAt } = scopedTokens.issue(claims, lifetimeSeconds);
      const address = addressOf(subject.workspaceId, allowedOrigin, settings.query);
      // A browser does not send the fragment, so the token reaches the page but no server and no log.
      const envelope: WidgetTokenEnvelope = { token, widgetUrl: `${address}#${token}` };
      return { token: Buffer.from(JSON.stringify(envelope)).toString('base64'), tokenId, expiresAt };
    },

    readAddress(query) {
      const match = /^(.+)&sig=([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]{43})$/.exec(query);
      const [, signed, kid, mac] = match ?? [];
      const key = kid === undefined ? undefined : keys.find(kid);
      if (!key || signed === undefined || mac === undefined) return undefined;
      if (!timingSafeEqual(Buffer.from(key.mac(signed)), Buffer.from(mac))) return undefined;
      const parameters = new URLSearchParams(signed);
      const workspaceId = parameters.get('workspaceId');
      const allowedOrigin = serializeOrigin(parameters.get('allowedOrigin') ?? '');
      const isView = parameters.get('view') === 'true';
      return workspaceId && allowedOrigin ? { workspaceId, allowedOrigin, isView } : undefined;
    },
  };
}

function queryOf(filters: TemplateFilters, theme: WidgetTheme | undefined, locale: string | undefined): string {
  const pairs: [name: string, value: string][] = [];
  for (const tag of filters.selected_source_template_tags) pairs.push(['selectedSourceTemplateTags', tag]);
  pairs.push(['selectedSourceTemplateTagsMode', filters.selected_source_template_tags_mode]);
  for (const tag of filters.selected_connection_template_tags) pairs.push(['selectedConnectionTemplateTags', tag]);
  pairs.push(['selectedConnectionTemplateTagsMode', filters.selected_connection_template_tags_mode]);
  if (theme && Object.keys(theme).length > 0) pairs.push(['theme', JSON.stringify(theme)]);
  if (locale !== undefined) pairs.push(['locale', locale]);
  return pairs.map(([name, value]) => `${name}=${formEncoded(value)}`).join('&');
}

/** The same text as `URLSearchParams` writes, in less time. */
export function formEncoded(value: string): string {
  if (/^[\w.*-]*$/.test(value)) return value;
  return encodeURIComponent(value.toWellFormed())
    .replace(/%20/g, '+')
    .replace(/[!'()~]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The settings of a request; throws when they would make a token or its address too long. */
export function widgetSettingsOf(
  request: Omit<WidgetTokenRequest, 'workspace_name' | 'allowed_origin' | 'expires_in_seconds'>,
): WidgetSettings {
  const { theme, locale, customer_label: customerLabel } = request;
  const filters = filtersOf(request);
  const query = queryOf(filters, theme, locale);
  if (query.length > maxQueryLength) {
    throw invalidRequest({
      loc: ['body', theme ? 'theme' : 'selected_source_template_tags'],
      msg: 'the widget URL would be too long; use fewer or shorter tags, or a smaller theme',
      type: 'value_error.any_str.max_length',
    });
  }
  return { filters, query, customerLabel };
}

/** The filters of a request; throws when they would make a token too large. */
export function filtersOf(request: TemplateFilterRequest): TemplateFilters {
  const filters: TemplateFilters = {
    selected_source_template_tags: request.selected_source_template_tags ?? [],
    selected_source_template_tags_mode: request.selected_source_template_tags_mode ?? 'any',
    selected_connection_template_tags: request.selected_connection_template_tags ?? [],
    selected_connection_template_tags_mode: request.selected_connection_template_tags_mode ?? 'any',
  };
  let bytes = 0;
  for (const field of ['selected_source_template_tags', 'selected_connection_template_tags'] as const) {
    bytes += Buffer.byteLength(filters[field].join(''));
    if (bytes > maxTagBytes) {
      throw invalidRequest({
        loc: ['body', field],
        msg: `the tags of a widget token must not exceed ${maxTagBytes} bytes in total`,
        type: 'value_error.list.max_size',
      });
    }
  }
  return filters;
}

/** The scoped token inside a widget token, for endpoints that accept both kinds. */
export function unwrapWidgetToken(token: string): string {
  if (token.includes('.')) return token;
  try {
    const envelope = JSON.parse(Buffer.from(token, 'base64').toString('utf8')) as { token?: unknown } | null;
    return typeof envelope?.token === 'string' ? envelope.token : token;
  } catch {
    return token; // Neither kind: the verification will refuse it.
  }
}
