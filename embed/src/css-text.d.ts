/** The build turns an imported stylesheet into a string. */
declare module '*.css' {
  const text: string;
  export default text;
}
