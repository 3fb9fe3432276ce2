/** Warnings of a successful check: the source works, but may not deliver what the customer expects. */
import type { CheckWarning } from '@inlay/contract/pipelines/sources';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { useWords, type Words } from '../words/words.ts';

export function CheckWarnings({ warnings }: { warnings: readonly CheckWarning[] }) {
  const words = useWords();
  if (warnings.length === 0) return null;
  return (
    <Notice kind="warning" title={words.check.warnings}>
      {warnings.map((warning) => (
        <p key={warning.message}>{inWords(warning, words)}</p>
      ))}
    </Notice>
  );
}

/** Known warnings in the customer's language, others in the connector's own words. */
function inWords({ code, message, stream, record_path }: CheckWarning, { check }: Words): string {
  if (code !== 'one_record' || stream === undefined) return message;
  return record_path === undefined ? check.oneRecord(stream) : check.oneRecordOfList(stream, record_path);
}
