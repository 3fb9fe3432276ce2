/** Who is calling, once a token has been accepted. The tenant of every rule comes from here and from nowhere else. */
import type { OperatorPermission, TagMode } from '@inlay/contract/fields';

export interface OperatorPrincipal {
  kind: 'operator';
  /** For a console session without a token: the id of the session. */
  tokenId: string;
  /** Set where `tokenId` is the id of a session. */
  isWithoutToken?: true;
  /** Name of the token, or the person's name for a session without a token. */
  tokenName: string;
  organizationId: string;
  permission: OperatorPermission;
  /** Set where a person does this in the console. */
  session?: { id: string };
}

export interface TemplateFilters {
  selected_source_template_tags: string[];
  selected_source_template_tags_mode: TagMode;
  selected_connection_template_tags: string[];
  selected_connection_template_tags_mode: TagMode;
}

export interface ScopedPrincipal {
  kind: 'scoped';
  jti: string;
  organizationId: string;
  workspaceId: string;
  /** Set for the scoped token inside a widget token: the origin of its page, and what the widget may offer. */
  allowedOrigin?: string;
  templateFilters?: TemplateFilters;
  /** What the customer is called, if the operator has said it. */
  customerLabel?: string;
  /** Set for a view token: an operator looks at what the customer sees, and changes nothing. */
  viewer?: Viewer;
}

/** What a view token ends with: the session of the console that asked for it, or else the operator token. */
export type Viewer = { session: string } | { operatorToken: string };

export type Principal = OperatorPrincipal | ScopedPrincipal;
