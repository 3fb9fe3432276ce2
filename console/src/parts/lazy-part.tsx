/**
 * A part of a screen that has a file of its own: it is shown as soon as it is loaded, and nothing waits for it. Where
 * something stands below it, `meanwhile` keeps its place, and `without` is shown where it cannot be loaded.
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
        // A newer version of the service may have other files; the screen itself says so.
        () => setShown({ Part: without }),
      );
    }, []);
    return Part ? <Part {...props} /> : null;
  };
}
