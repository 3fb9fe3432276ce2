import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));

export default defineConfig({
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
    modulePreload: { polyfill: false },
    rollupOptions: { input: path('src/main.tsx') },
  },
});
