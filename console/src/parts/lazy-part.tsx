/** A part of a screen that has a file of its own: it is shown as soon as it is loaded, and nothing waits for it. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

export function lazyPart<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | undefined;
  return function LazyPart(props: P) {
    const [, setLoads] = useState(0);
    useEffect(() => {
      if (loaded) return;
      load().then(
        (part) => {
          loaded = part;
          setLoads((count) => count + 1);
        },
        // A newer version of the service may have other files; the screen itself says so.
        () => undefined,
      );
    }, []);
    const Part = loaded;
    return Part ? <Part {...props} /> : null;
  };
}
