/**
 * Whether platform and database answer, in one line, with the way to the checks. It is asked for after the overview is there
 * and now and then, so that the overview never waits for it. Its place is kept from the first paint: nothing below moves
 * when it comes, or when it cannot be told.
 */
import type { ServiceHealth } from '@inlay/contract/log/service-health';
import { Glyph } from '@inlay/ui/parts/glyph.tsx';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { When } from '../../parts/when.tsx';
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
  if (data) return <Told health={data} />;
  const { platform, database, answers, answersIn, checksWell, notRead } = words.overview;
  // The usual words, unseen: they take as much room as those that come.
  return error ? (
    <p class="c-strip">
      <Fact>
        {platform}: {words.none}
      </Fact>
      <Fact>
        {database}: {words.none}
      </Fact>
      <Link to={pathTo('health')}>{notRead}</Link>
    </p>
  ) : (
    <p class="c-strip c-strip-awaited" aria-hidden="true">
      <Fact isGood>
        {platform}: {answers}
      </Fact>
      <Fact isGood>
        {database}: {answersIn(1)}
      </Fact>
      <span>
        <span>{checksWell}</span>
      </span>
    </p>
  );
}

function Told({ health: { platform, database, checks } }: { health: ServiceHealth }) {
  const count = (state: string) => checks.filter((check) => check.state === state).length;
  const [toFix, toLookAt] = [count('fail'), count('warn')];
  return (
    <p class="c-strip">
      <Fact isGood={platform.failure === null}>
        {words.overview.platform}: {platform.failure === null ? words.overview.answers : words.overview.silentSince}{' '}
        {platform.failing_since && <When time={platform.failing_since} />}
        {platform.failure === null && platform.last_failure_at && (
          <span class="c-muted">
            {' '}
            · {words.overview.lastTrouble} <When time={platform.last_failure_at} />
          </span>
        )}
      </Fact>
      <Fact isGood>
        {words.overview.database}: {words.overview.answersIn(database.answered_in_ms)}
      </Fact>
      <Link to={pathTo('health')}>
        {toFix > 0
          ? words.overview.toFix(toFix)
          : toLookAt > 0
            ? words.overview.toLookAt(toLookAt)
            : words.overview.checksWell}
      </Link>
    </p>
  );
}

/** Without `isGood`: nobody knows. */
function Fact({ isGood, children }: { isGood?: boolean; children: ComponentChildren }) {
  const looks = isGood === undefined ? 'c-muted' : isGood ? 'c-strip-good' : 'c-danger';
  return (
    <span class={looks}>
      <Glyph name={isGood ? 'check' : 'alert'} />
      <span>{children}</span>
    </span>
  );
}
