/** Lets an operator test the sign-in and see what the provider returned. Uses the saved template, not the draft. */
import type { CredentialRevocation } from '@inlay/contract/credentials/credentials';
import type { OAuthTestReport, StartedOAuthTest } from '@inlay/contract/credentials/oauth-tests';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { useEffect, useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { FactList, TextField } from '../../parts/fields.tsx';
import { RequestButton } from '../../parts/request-button.tsx';
import { formatting } from '../../words/formatting.ts';
import { words as common } from '../../words/words.ts';
import { words as templatesWords } from './words.ts';

const words = templatesWords.oauth;

const lookEveryMs = 2_000;
/** The service revokes tokens within ten seconds. If that fails it retries for two weeks, too long to keep polling. */
const mostLooks = 20;

interface TestSignInProps {
  templateId: string;
  /** Values that the provider's URLs need. */
  values: readonly [string, { title: string }][];
}

export function TestSignIn({ templateId, values }: TestSignInProps) {
  const { mayWrite } = useConsole();
  const [entered, setEntered] = useState<Record<string, string>>({});
  const [started, setStarted] = useState<StartedOAuthTest | undefined>(undefined);
  if (!mayWrite) return null;
  return (
    <div class="c-stack">
      {values.map(([name, { title }]) => (
        <TextField
          label={title}
          value={entered[name] ?? ''}
          onInput={(value) => setEntered({ ...entered, [name]: value })}
          key={name}
        />
      ))}
      <p class="c-hint">{words.testHint}</p>
      <div class="c-tools">
        <RequestButton
          label={words.test}
          request={requestTo('POST /integrations/oauth/tests', {
            body: { source_template_id: templateId, values: entered },
          })}
          onDone={setStarted}
        />
      </div>
      {started && <Outcome started={started} key={started.id} />}
    </div>
  );
}

function Outcome({ started: { id, start_url } }: { started: StartedOAuthTest }) {
  const { data, error, reload } = useAnswer(requestTo('GET /integrations/oauth/tests/{oauth_test_id}', { ids: [id] }));
  // The service ends tests that are never completed.
  const isOpen = data === undefined || data.state === 'open';
  const [looks, setLooks] = useState(0);
  const isDue = data?.revocation === 'due';
  const isLooking = isOpen || (isDue && looks < mostLooks);
  useEffect(() => {
    if (!isLooking) return;
    const timer = setInterval(() => {
      reload();
      if (!isOpen) setLooks((count) => count + 1);
    }, lookEveryMs);
    return () => clearInterval(timer);
  }, [isLooking, isOpen]);
  return (
    <div class="c-stack" role="status">
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {isOpen && (
        <p>
          <a href={start_url} target="_blank" rel="noopener noreferrer" class="inlay-button inlay-button-primary">
            <span>{words.open}</span>
          </a>{' '}
          <span class="c-muted">{words.waiting}</span>
        </p>
      )}
      {data?.state === 'failed' && (
        <Notice kind="danger" title={words.failed}>
          {data.message}
        </Notice>
      )}
      {data?.report && <Report report={data.report} />}
      {data?.revocation && (
        <Tokens
          revocation={data.revocation}
          {...(isDue &&
            !isLooking && {
              onLook: () => {
                reload();
                setLooks(0);
              },
            })}
        />
      )}
    </div>
  );
}

const kinds = {
  due: 'info',
  done: 'success',
  kept: 'info',
  impossible: 'warning',
  failed: 'warning',
} as const satisfies Record<CredentialRevocation, string>;

/** Whether the tokens were revoked. `onLook` is set once polling has stopped. */
function Tokens({ revocation, onLook }: { revocation: CredentialRevocation; onLook?: () => void }) {
  const { tokens, lookAgain } = words;
  const { title, text } = tokens[revocation];
  return (
    <Notice
      kind={kinds[revocation]}
      title={title}
      {...(onLook && { actions: <Button onClick={onLook}>{lookAgain}</Button> })}
    >
      {text}
    </Notice>
  );
}

function Report({ report }: { report: OAuthTestReport }) {
  const { account, scopes_granted, scopes_missing, expires_in_seconds, has_refresh_token } = report;
  return (
    <>
      <Notice kind={scopes_missing.length > 0 || !has_refresh_token ? 'warning' : 'success'} title={words.succeeded} />
      <FactList
        facts={[
          [words.account, account ?? words.notReported],
          [words.granted, scopes_granted ? scopes_granted.join(' ') || common.none : words.asRequested],
          [words.missing, scopes_missing.join(' ') || common.none],
          [words.expires, expires_in_seconds === null ? words.notReported : formatting.duration(expires_in_seconds)],
          [words.refreshToken, has_refresh_token ? words.yes : words.noRefresh],
        ]}
      />
    </>
  );
}
