/** Which template is meant, of which kind, and who acts on it: for the folders that use templates. */

import type { OperatorPermission } from '@inlay/contract/fields';

export interface TemplateRef<Kind extends 'source' | 'connection' = 'source' | 'connection'> {
  organizationId: string;
  kind: Kind;
  templateId: string;
}

/** Who changes templates: the organization, and the token that acts for it. */
export interface Operator {
  organizationId: string;
  permission: OperatorPermission;
  tokenId: string;
  /** Set for a person in the console who has signed in without a token: then `tokenId` is the id of the session. */
  isWithoutToken?: true;
  /** Name of the token; of a session without a token, who signed in. */
  tokenName: string;
}

/** What is stored as the maker of a plan or rollout. The log names the person. */
export const makerOf = ({ tokenId, isWithoutToken }: Operator): string | null => (isWithoutToken ? null : tokenId);

/** What is stored as the maker of a version. A session is deleted sooner than versions, so it is copied who signed in. */
export interface VersionMaker {
  made_by: string | null;
  session_id: string | null;
  session_label: string | null;
}

/** Someone with access to the machine. */
export const nobody: VersionMaker = { made_by: null, session_id: null, session_label: null };

export function versionMakerOf({ tokenId, isWithoutToken, tokenName }: Operator): VersionMaker {
  if (isWithoutToken) return { made_by: null, session_id: tokenId, session_label: tokenName };
  return { ...nobody, made_by: tokenId };
}
