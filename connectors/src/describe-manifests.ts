export { run } from '@inlay/manifests/describe-manifests';
