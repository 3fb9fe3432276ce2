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
  /** Set for a person in the console who has signed in without a token. */
  isWithoutToken?: true;
}

/** What is stored as the maker of a version, plan or rollout. The log names the person. */
export const makerOf = ({ tokenId, isWithoutToken }: Operator): string | null => (isWithoutToken ? null : tokenId);
