export { importModule } from '@inlay/manifests/import-module';
