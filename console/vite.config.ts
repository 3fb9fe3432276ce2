import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** As in the widget: the parts need nothing ahead but the first one, which is there, and its styles. */
const withoutPreloads: Plugin = {
  name: 'without-preloads',
  enforce: 'pre',
  load: (id) => (id === '\0vite/preload-helper.js' ? 'export const __vitePreload = (load) => load();' : undefined),
};

export default defineConfig({
  plugins: [withoutPreloads],
  root: path('.'),
  // Addresses in the bundle are relative: the service may live below a path.
  base: './',
  publicDir: false,
  // Set here because a test may also run the build: the files must not depend on NODE_ENV or name paths of this
  // machine.
  esbuild: { jsx: 'automatic', jsxDev: false, jsxImportSource: 'preact', legalComments: 'none' },
  resolve: {
    dedupe: ['preact'],
  },
  build: {
    manifest: 'manifest.json',
    target: 'es2022',
    cssCodeSplit: false,
    modulePreload: false,
    rollupOptions: { input: path('src/main.tsx') },
  },
});
