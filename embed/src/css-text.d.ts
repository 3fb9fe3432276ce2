/** The build makes text of a stylesheet. */
declare module '*.css' {
  const text: string;
  export default text;
}
