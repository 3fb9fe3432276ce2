/** The health of the service: failed checks with advice, replicas, versions, migrations and settings. */
import type {
  CheckState,
  Deployment,
  Replica,
  ServiceCheck,
  ServiceHealth,
  ServiceSetting,
} from '@inlay/contract/log/service-health';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Glyph } from '@inlay/ui/parts/glyph.tsx';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { CurlButton } from '../../parts/copy-button.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { FactList } from '../../parts/fields.tsx';
import { Bones, Empty, Page, Panel } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/tables/table.tsx';
import { When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { words as common } from '../../words/words.ts';
import { words } from './words.ts';

const request = requestTo('GET /integrations/health');

export function HealthScreen() {
  const { data, error, isLoading, reload } = useAnswer(request);
  return (
    <Page
      title={words.title}
      beside={
        <span class="c-pair">
          <Button glyph="sync" isBusy={isLoading} onClick={reload}>
            {words.checkAgain}
          </Button>
          <CurlButton request={request} what={words.title} />
        </span>
      }
    >
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!data && !error && <Bones rows={6} />}
      {data && (
        <>
          <Checks health={data} />
          {data.deployment ? (
            <DeploymentDetails health={data} deployment={data.deployment} />
          ) : (
            <Notice>{words.notYours}</Notice>
          )}
        </>
      )}
    </Page>
  );
}

const looks = {
  fail: { kind: 'danger', glyph: 'alert' },
  warn: { kind: 'warning', glyph: 'alert' },
  ok: { kind: 'success', glyph: 'check' },
} as const;

function CheckBadge({ state }: { state: CheckState }) {
  return (
    <span class={`inlay-badge inlay-badge-${looks[state].kind}`}>
      <Glyph name={looks[state].glyph} />
      {words.states[state]}
    </span>
  );
}

function Checks({ health: { checks, checked_at } }: { health: ServiceHealth }) {
  const wrong = checks.filter(({ state }) => state !== 'ok');
  const good = checks.filter(({ state }) => state === 'ok');
  return (
    <Panel
      title={words.checks}
      beside={
        <span class="c-muted">
          {words.checked} <When time={checked_at} />
        </span>
      }
    >
      {wrong.length === 0 ? <p class="c-panel-text">{words.allWell}</p> : <CheckList checks={wrong} />}
      <details class="c-checks-more" open={wrong.length === 0}>
        <summary>{words.passed(good.length)}</summary>
        <CheckList checks={good} />
      </details>
    </Panel>
  );
}

function CheckList({ checks }: { checks: readonly ServiceCheck[] }) {
  return (
    <ul class="c-checks">
      {checks.map(({ state, what, advice }) => (
        <li key={what}>
          <CheckBadge state={state} />
          <span class="c-check-text" lang="en">
            <span>{what}</span>
            {advice && <span class="c-muted">{advice}</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}

function DeploymentDetails({
  health: { version, platform },
  deployment: { replicas, versions, last_backup_at, migrations, settings },
}: {
  health: ServiceHealth;
  deployment: Deployment;
}) {
  return (
    <>
      <FactList
        facts={[
          [words.service, version],
          [words.node, versions.node],
          [words.database, versions.database],
          [words.platform, [words[platform.kind], versions.platform].filter(Boolean).join(', ')],
          [
            words.migrations,
            migrations.pending.length > 0
              ? words.pending(migrations.pending.join(', '))
              : migrations.unknown.length > 0
                ? words.newer(migrations.unknown.join(', '))
                : words.applied(migrations.applied, migrations.last),
          ],
          [words.lastBackup, last_backup_at === null ? words.noBackup : <When time={last_backup_at} />],
          [words.connectors, <Link to={pathTo('connectors')}>{words.connectorVersions}</Link>],
        ]}
      />
      <Panel title={words.replicas}>
        {replicas.length === 0 ? <Empty title={words.noReplicas} /> : <Replicas replicas={replicas} />}
      </Panel>
      <Panel title={words.settings}>
        <p class="c-panel-text c-muted">{words.settingsText}</p>
        <Settings settings={settings} />
      </Panel>
    </>
  );
}

function Replicas({ replicas }: { replicas: readonly Replica[] }) {
  const columns: Column<Replica>[] = [
    { title: words.host, isWide: true, cell: ({ host }) => host },
    { title: words.version, cell: ({ version }) => version },
    { title: words.started, cell: ({ started_at }) => <When time={started_at} /> },
    { title: words.seen, cell: ({ last_seen_at }) => <When time={last_seen_at} /> },
    {
      title: words.state,
      cell: ({ is_present }) => (
        <span class={`inlay-badge inlay-badge-${is_present ? 'success' : 'warning'}`}>
          <Glyph name={is_present ? 'check' : 'alert'} />
          {is_present ? words.present : words.silent}
        </span>
      ),
    },
  ];
  return <Table label={words.replicas} rows={replicas} columns={columns} idOf={({ id }) => id} />;
}

function Settings({ settings }: { settings: readonly ServiceSetting[] }) {
  const columns: Column<ServiceSetting>[] = [
    { title: words.name, cell: ({ name }) => <code>{name}</code> },
    {
      title: words.value,
      isWide: true,
      cell: ({ value, is_secret, is_set }) => {
        if (is_secret) return <span class="c-muted">{is_set ? words.set : words.notSet}</span>;
        return value === null ? <span class="c-muted">{common.none}</span> : <span class="c-value">{value}</span>;
      },
    },
    { title: words.setBy, cell: ({ is_set }) => (is_set ? words.fromEnvironment : words.byDefault) },
  ];
  // Settings that differ from the default come first.
  const rows = [...settings.filter(({ is_set }) => is_set), ...settings.filter(({ is_set }) => !is_set)];
  return <Table label={words.settings} rows={rows} columns={columns} idOf={({ name }) => name} />;
}
