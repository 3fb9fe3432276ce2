const en = {
  form: {},

  loading: 'Loading…',
};

export default en;

/** The same shape with any text: a plain one, or a function of what is to be said. */
type Translated<T> = {
  [K in keyof T]: T[K] extends (...args: infer A) => string
    ? (...args: A) => string
    : T[K] extends string
      ? string
      : Translated<T[K]>;
};
export type Words = Translated<typeof en>;
