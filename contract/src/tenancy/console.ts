/** Schemas for console sessions. */
import { type Static, Type } from 'typebox';
import { templateFilterFields } from '../catalog/template-filters.ts';
import { Enumeration, operatorPermissions, Timestamp, Uuid } from '../fields.ts';
import { WidgetLocale, WidgetTheme } from '../widget-theme.ts';

const exampleId = '3d2c9a54-1f0b-4a0e-9c53-8a1f6f0e2b77';

export const ConsoleSession = Type.Object(
  {
    id: Uuid('Identifier of the session.', exampleId),
    kind: Enumeration(['token', 'link', 'oidc'], {
      description: 'How the person signed in: with an operator token, a one-time link, or an identity provider.',
      examples: ['token'],
    }),
    label: Type.String({
      description: 'Name of the token, recipient of the link, or name from the identity provider.',
      examples: ['ada@example.com'],
    }),
    permission: Enumeration(operatorPermissions, { description: 'Permission of the session.', examples: ['full'] }),
    operator_token_id: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'uuid',
      description: 'The operator token that the session depends on. Null unless the person signed in with one.',
    }),
    created_at: Timestamp('When the person signed in.'),
    last_used_at: Timestamp('Last use, to the minute.'),
    expires_at: Timestamp('When the session expires.'),
  },
  { title: 'Console session' },
);
export type ConsoleSession = Static<typeof ConsoleSession>;

export const ConsoleSessionList = Type.Object(
  {
    data: Type.Array(ConsoleSession, { description: 'Active sessions, newest first, at most 1,000.' }),
  },
  { title: 'Console session list' },
);
export type ConsoleSessionList = Static<typeof ConsoleSessionList>;

export const ConsoleSessionPath = Type.Object({
  console_session_id: Uuid('Identifier of the session.', exampleId),
});

export const ViewTokenRequest = Type.Object(
  {
    ...templateFilterFields,
    theme: Type.Optional(WidgetTheme),
    locale: Type.Optional(WidgetLocale),
  },
  { title: 'View token request', examples: [{ locale: 'de' }] },
);
export type ViewTokenRequest = Static<typeof ViewTokenRequest>;

export const ViewToken = Type.Object(
  {
    token: Type.String({
      description: 'Read-only token that sees what the customer of the workspace sees.',
      examples: ['eyJhbGciOiJFZERTQSIs…'],
    }),
    widget_url: Type.String({
      description: 'URL of the widget as the customer sees it, for a frame on a page of Inlay itself.',
      examples: ['https://inlay.example.com/widget?workspaceId=…#eyJhbGciOiJFZERTQSIs…'],
    }),
    expires_at: Timestamp('When the token expires, unless it ends earlier.'),
  },
  { title: 'View token' },
);
export type ViewToken = Static<typeof ViewToken>;
