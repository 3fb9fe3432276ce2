/**
 * Platform and database status in one line, with a link to the checks. Loaded after the overview and then periodically, so the
 * overview never waits for it. Space is reserved from the first paint, so nothing below moves when it arrives or fails to load.
 */
import type { ServiceHealth } from '@inlay/contract/log/service-health';
import { Glyph } from '@inlay/ui/parts/glyph.tsx';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { HowLong, When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { words } from '../../words/words.ts';

const everyMs = 60_000;

export function ServiceStrip({ isDue }: { isDue: boolean }) {
  const { data, error, reload } = useAnswer(isDue ? requestTo('GET /integrations/health') : undefined);
  useEffect(() => {
    const timer = setInterval(reload, everyMs);
    return () => clearInterval(timer);
  }, []);
  if (data) return <Status health={data} />;
  const { platformOk, platformUnknown, databaseOk, databaseUnknown, checksPassed, noHealth } = words.overview;
  // The placeholder has the usual texts, hidden, so that it is as large as what replaces it.
  return error ? (
    <p class="c-strip">
      <Fact>{platformUnknown}</Fact>
      <Fact>{databaseUnknown}</Fact>
      <Link to={pathTo('health')}>{noHealth}</Link>
    </p>
  ) : (
    <p class="c-strip c-strip-awaited" aria-hidden="true">
      <Fact isGood>{platformOk}</Fact>
      <Fact isGood>{databaseOk(1)}</Fact>
      <span>
        <span>{checksPassed}</span>
      </span>
    </p>
  );
}

function Status({ health: { platform, database, checks } }: { health: ServiceHealth }) {
  const count = (state: string) => checks.filter((check) => check.state === state).length;
  const [failed, warnings] = [count('fail'), count('warn')];
  const { platformOk, platformDown, lastFailure, databaseOk, checksFailed, checksPassed } = words.overview;
  return (
    <p class="c-strip">
      <Fact isGood={platform.failure === null}>
        {platform.failure === null ? platformOk : platformDown}
        {platform.failing_since && (
          <>
            {' '}
            {words.lasting.anyState} <HowLong since={platform.failing_since} />
          </>
        )}
        {platform.failure === null && platform.last_failure_at && (
          <span class="c-muted">
            {' '}
            · {lastFailure} <When time={platform.last_failure_at} />
          </span>
        )}
      </Fact>
      <Fact isGood>{databaseOk(database.answered_in_ms)}</Fact>
      <Link to={pathTo('health')}>
        {failed > 0 ? checksFailed(failed) : warnings > 0 ? words.overview.warnings(warnings) : checksPassed}
      </Link>
    </p>
  );
}

/** `isGood` undefined: unknown. */
function Fact({ isGood, children }: { isGood?: boolean; children: ComponentChildren }) {
  const looks = isGood === undefined ? 'c-muted' : isGood ? 'c-strip-good' : 'c-danger';
  return (
    <span class={looks}>
      <Glyph name={isGood ? 'check' : 'alert'} />
      <span>{children}</span>
    </span>
  );
}
