/** Which template is meant, of which kind, and who acts on it: for the folders that have to do with templates. */

export interface TemplateRef {
  organizationId: string;
  kind: 'source' | 'connection';
  templateId: string;
}

/** Who changes templates: the organization, and the token that acts for it. */
export interface Operator {
  organizationId: string;
  tokenId: string;
}
