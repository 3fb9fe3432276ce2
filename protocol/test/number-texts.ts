/* Numbers as JSON may write them, for property tests, and a canonical spelling to compare them. */
import fc from 'fast-check';

const digits = (maxLength: number) => fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength });

/** Any number of up to 60 digits and any exponent, of four digits by default. */
export const numberTexts = (exponentDigits: fc.Arbitrary<string> = digits(4)) =>
  fc
    .tuple(
      fc.constantFrom('', '-'),
      digits(30).map((text) => text.replace(/^0+(?=.)/, '')),
      fc.option(digits(30), { nil: undefined }),
      fc.option(fc.tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), exponentDigits), { nil: undefined }),
    )
    .map(
      ([sign, whole, fraction, exponent]) =>
        `${sign}${whole}${fraction === undefined ? '' : `.${fraction}`}${exponent?.join('') ?? ''}`,
    );

/** Exponents that most columns hold, and exponents that none does. */
export const shortOrLongExponent = fc.oneof(digits(2), digits(5));

const numberForm = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** As digits and a power of ten, so that equal numbers look the same: `12.50` and `1.25e1` are `125e-1`. */
export function canonicalSignedNumber(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = numberForm.exec(text) ?? [];
  const all = (whole + fraction).replace(/^0+/, '');
  const short = all.replace(/0+$/, '');
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(all.length - short.length);
  return short === '' ? `${sign}0` : `${sign}${short}e${power}`;
}

/** The same for columns that do not know the sign of zero. */
export function canonicalNumber(text: string): string {
  return canonicalSignedNumber(text).replace(/^-0$/, '0');
}
