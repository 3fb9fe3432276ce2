/** Operator tokens, console sessions, and the keys that sign customer tokens. */
import type { OperatorToken, OperatorTokenWithSecret } from '@inlay/contract/tenancy/tokens';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Glyph, type GlyphName } from '@inlay/ui/parts/glyph.tsx';
import { useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { RequestDialog } from '../../parts/dialogs/request-dialog.tsx';
import { SecretDialog } from '../../parts/dialogs/secret-dialog.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Bones, Empty, Page, Panel } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/tables/table.tsx';
import { When } from '../../parts/when.tsx';
import { basePath } from '../../router/router.ts';
import { words as common } from '../../words/words.ts';
import { CreateToken, RotateToken } from './forms.tsx';
import { Sessions } from './sessions.tsx';
import { type TokenState, tokenState } from './token-state.ts';
import { words } from './words.ts';

type Asked = { what: 'create' } | { what: 'rotate' | 'revoke'; token: OperatorToken };

export function TokensScreen() {
  const { isAdmin, announce } = useConsole();
  const { data, error, reload } = useAnswer(requestTo('GET /operator-tokens'));
  const [asked, setAsked] = useState<Asked | undefined>(undefined);
  const [made, setMade] = useState<OperatorTokenWithSecret | undefined>(undefined);
  const close = () => setAsked(undefined);
  const onMade = (token: OperatorTokenWithSecret) => {
    close();
    setMade(token);
    reload();
  };
  return (
    <Page
      title={words.title}
      beside={
        isAdmin && (
          <Button kind="primary" glyph="plus" onClick={() => setAsked({ what: 'create' })}>
            {words.create}
          </Button>
        )
      }
    >
      <Panel title={words.operatorTokens}>
        {error && <ErrorNotice error={error} onTryAgain={reload} />}
        {!data && !error && <Bones />}
        {data?.data.length === 0 && <Empty title={words.noTokens} />}
        {data && data.data.length > 0 && <TokenTable tokens={data.data} onAsk={setAsked} />}
      </Panel>
      <Sessions />
      <Panel title={words.keys}>
        <p class="c-panel-text">
          {words.keysText}{' '}
          <a class="c-link" href={`${basePath}../.well-known/jwks.json`} target="_blank" rel="noreferrer">
            /.well-known/jwks.json
          </a>
        </p>
      </Panel>
      {asked?.what === 'create' && <CreateToken onMade={onMade} onClose={close} />}
      {asked?.what === 'rotate' && <RotateToken token={asked.token} onMade={onMade} onClose={close} />}
      {asked?.what === 'revoke' && (
        <RequestDialog
          title={words.revokeOf(asked.token.name)}
          text={words.revokeText}
          label={words.revoke}
          kind="danger"
          request={requestTo('DELETE /operator-tokens/{operator_token_id}', { ids: [asked.token.id] })}
          onClose={close}
          onDone={() => {
            close();
            announce(words.revoked);
            reload();
          }}
        />
      )}
      {made && (
        <SecretDialog
          title={words.madeTitle}
          text={words.once}
          secret={made.token}
          copyLabel={words.copySecret}
          onClose={() => setMade(undefined)}
        />
      )}
    </Page>
  );
}

function TokenTable({ tokens, onAsk }: { tokens: readonly OperatorToken[]; onAsk(asked: Asked): void }) {
  const { isAdmin } = useConsole();
  const now = Date.now();
  const columns: Column<OperatorToken>[] = [
    { title: words.name, isWide: true, cell: ({ name }) => name },
    { title: words.role, cell: ({ permission }) => common.shell.roles[permission] },
    { title: words.state, cell: (token) => <StateBadge state={tokenState(token, now)} /> },
    { title: common.column.created, cell: ({ created_at }) => <When time={created_at} /> },
    { title: words.lastUsed, cell: ({ last_used_at }) => <When time={last_used_at} none={words.notUsed} /> },
    {
      title: words.expires,
      cell: ({ expires_at }) => (
        <When
          time={expires_at}
          none={words.never}
          tense={expires_at && Date.parse(expires_at) > now ? 'future' : 'past'}
        />
      ),
    },
    ...(isAdmin
      ? [
          {
            title: common.column.actions,
            cell: (token: OperatorToken) =>
              ['active', 'ending'].includes(tokenState(token, now)) ? (
                <span class="c-pair">
                  <Button label={words.rotateOf(token.name)} onClick={() => onAsk({ what: 'rotate', token })}>
                    {words.rotate}
                  </Button>
                  <Button
                    kind="danger"
                    label={words.revokeOf(token.name)}
                    onClick={() => onAsk({ what: 'revoke', token })}
                  >
                    {words.revoke}
                  </Button>
                </span>
              ) : (
                <span class="c-muted">{common.none}</span>
              ),
          },
        ]
      : []),
  ];
  return <Table label={words.operatorTokens} rows={tokens} columns={columns} idOf={({ id }) => id} />;
}

const looks: Record<TokenState, { kind: string; glyph: GlyphName }> = {
  active: { kind: 'success', glyph: 'check' },
  ending: { kind: 'warning', glyph: 'clock' },
  expired: { kind: 'neutral', glyph: 'clock' },
  revoked: { kind: 'neutral', glyph: 'close' },
};

function StateBadge({ state }: { state: TokenState }) {
  const { kind, glyph } = looks[state];
  return (
    <span class={`inlay-badge inlay-badge-${kind}`}>
      <Glyph name={glyph} />
      {words.states[state]}
    </span>
  );
}
