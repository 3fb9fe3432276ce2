/** Build configuration shared by the widget and the console. */
import { join } from 'node:path';
import type { BuildEnvironmentOptions, Plugin, UserConfig } from 'vite';

/**
 * Vite wraps every import() in a helper that preloads the chunk's dependencies. Our chunks depend only on the entry chunk and its
 * styles, so dropping the helper saves half a kilobyte.
 */
const withoutPreloads: Plugin = {
  name: 'without-preloads',
  enforce: 'pre',
  load: (id) => (id === '\0vite/preload-helper.js' ? 'export const __vitePreload = (load) => load();' : undefined),
};

export const pageConfig = (root: string, more: BuildEnvironmentOptions = {}): UserConfig => ({
  plugins: [withoutPreloads],
  root,
  // Addresses in the bundle are relative: the service may live below a path.
  base: './',
  publicDir: false,
  // Set here because a test may also run the build: the files must not depend on NODE_ENV or name paths of this
  // machine.
  esbuild: { jsx: 'automatic', jsxDev: false, jsxImportSource: 'preact', legalComments: 'none' },
  resolve: { dedupe: ['preact'] },
  build: {
    manifest: 'manifest.json',
    target: 'es2022',
    cssCodeSplit: false,
    modulePreload: false,
    rollupOptions: { input: join(root, 'src/main.tsx') },
    ...more,
  },
});
