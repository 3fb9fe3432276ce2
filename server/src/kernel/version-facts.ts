/** What every version says of itself, whatever it is a version of: a template or the manifest of a connector. */
import type { VersionAuthor } from '@inlay/contract/catalog/template-versions';
import { isoTime } from './iso-time.ts';
import type { VersionMaker } from './template-ref.ts';

interface VersionRow extends VersionMaker {
  number: number;
  copy_of: number | null;
  created_at: number;
  /** The name of the token. */
  author: string | null;
}

export function factsOfVersion(row: VersionRow, current: number) {
  return {
    version: row.number,
    is_current: row.number === current,
    copy_of: row.copy_of,
    created_at: isoTime(row.created_at),
    created_by: authorOf(row),
  };
}

function authorOf({ made_by, session_id, session_label, author }: VersionRow): VersionAuthor | null {
  if (session_id !== null) return { kind: 'console_user', id: session_id, name: session_label ?? '' };
  return made_by === null ? null : { kind: 'operator_token', id: made_by, name: author ?? '' };
}
