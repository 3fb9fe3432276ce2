export default {
  form: {},

  loading: 'Loading…',
};
