/**
 * A component that is loaded on demand. `meanwhile` reserves its space while it loads, and `without` is shown if loading
 * fails.
 */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

interface Substitutes<P> {
  meanwhile?: ComponentType<P>;
  without?: ComponentType<P>;
}

export function lazyPart<P extends object>(
  load: () => Promise<ComponentType<P>>,
  { meanwhile, without }: Substitutes<P> = {},
): ComponentType<P> {
  let loaded: ComponentType<P> | undefined;
  return function LazyPart(props: P) {
    // In an object: a component is a function, and a state that is a function is called.
    const [{ Part }, setShown] = useState({ Part: loaded ?? meanwhile });
    useEffect(() => {
      if (loaded) return;
      load().then(
        (part) => {
          loaded = part;
          setShown({ Part: part });
        },
        // After an upgrade the files may have other names. The screen reports that.
        () => setShown({ Part: without }),
      );
    }, []);
    return Part ? <Part {...props} /> : null;
  };
}
