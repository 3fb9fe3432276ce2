export { run } from '@inlay/manifests/program';
