/**
 * Whether platform and database answer, in one line, with the way to the checks. It is asked for after the overview is there
 * and now and then, so that the overview never waits for it. Where it cannot be told, it is left out.
 */
import type { ServiceHealth } from '@inlay/contract/service-health';
import { Glyph } from '@inlay/ui/parts/glyph.tsx';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { When } from '../../parts/when.tsx';
import { Link } from '../../router/link.tsx';
import { pathTo } from '../../router/router.ts';
import { useWords } from '../../words/words.ts';

const everyMs = 60_000;

export function ServiceStrip() {
  const words = useWords().overview;
  const { formatting } = useConsole();
  const { data, reload } = useAnswer<ServiceHealth>({ method: 'GET', path: '/integrations/health' });
  useEffect(() => {
    const timer = setInterval(reload, everyMs);
    return () => clearInterval(timer);
  }, []);
  if (!data) return null;
  const { platform, database, checks } = data;
  const count = (state: string) => checks.filter((check) => check.state === state).length;
  const [toFix, toLookAt] = [count('fail'), count('warn')];
  return (
    <p class="c-strip">
      <Fact isGood={platform.failure === null}>
        {words.platform}: {platform.failure === null ? words.answers : words.silentSince}{' '}
        {platform.failing_since && <When time={platform.failing_since} />}
        {platform.failure === null && platform.last_failure_at && (
          <span class="c-muted">
            {' '}
            · {words.lastTrouble} <When time={platform.last_failure_at} />
          </span>
        )}
      </Fact>
      <Fact isGood>
        {words.database}: {words.answersIn(formatting.number(database.answered_in_ms))}
      </Fact>
      <Link to={pathTo('health')}>
        {toFix > 0
          ? words.toFix(formatting.number(toFix))
          : toLookAt > 0
            ? words.toLookAt(formatting.number(toLookAt))
            : words.checksWell}
      </Link>
    </p>
  );
}

function Fact({ isGood, children }: { isGood: boolean; children: ComponentChildren }) {
  return (
    <span class={isGood ? 'c-strip-good' : 'c-danger'}>
      <Glyph name={isGood ? 'check' : 'alert'} />
      <span>{children}</span>
    </span>
  );
}
