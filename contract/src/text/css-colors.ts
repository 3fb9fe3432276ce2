/**
 * Which texts are CSS colors: a number, a function, one of the 148 names, or `transparent`. Colors that depend on the
 * page or the machine (`currentcolor`, system colors) are refused, and so is a text with a reference in it (`var()`,
 * `url()`).
 */

const hex = /^#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i;

const number = '[+-]?(?:\\d+(?:\\.\\d+)?|\\.\\d+)(?:e[+-]?\\d+)?';
const percentage = `${number}%`;
const angle = `${number}(?:deg|grad|rad|turn)?`;
const value = `(?:${percentage}|${number}|none)`;
const alpha = `(?:${percentage}|${number})`;
const gap = '\\s+';
const comma = '\\s*,\\s*';

/** With commas, as older style sheets have it: all of rgb are numbers, or all are percentages. */
const withCommas = [
  `rgba?\\(\\s*(?:${number}${comma}${number}${comma}${number}|${percentage}${comma}${percentage}${comma}${percentage})(?:${comma}${alpha})?\\s*\\)`,
  `hsla?\\(\\s*${angle}${comma}${percentage}${comma}${percentage}(?:${comma}${alpha})?\\s*\\)`,
];
const opacity = `(?:\\s*/\\s*(?:${alpha}|none))?`;
const hue = `(?:${angle}|none)`;
const withSpaces = [
  `(?:rgba?|lab|oklab)\\(\\s*${value}${gap}${value}${gap}${value}${opacity}\\s*\\)`,
  `(?:hsla?|hwb)\\(\\s*${hue}${gap}${value}${gap}${value}${opacity}\\s*\\)`,
  `(?:lch|oklch)\\(\\s*${value}${gap}${value}${gap}${hue}${opacity}\\s*\\)`,
];
const call = new RegExp(`^(?:${[...withCommas, ...withSpaces].join('|')})$`, 'i');

const names = new Set(
  (
    'aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown burlywood ' +
    'cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod darkgray ' +
    'darkgreen darkgrey darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon darkseagreen ' +
    'darkslateblue darkslategray darkslategrey darkturquoise darkviolet deeppink deepskyblue dimgray dimgrey dodgerblue ' +
    'firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod gray green greenyellow grey honeydew ' +
    'hotpink indianred indigo ivory khaki lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan ' +
    'lightgoldenrodyellow lightgray lightgreen lightgrey lightpink lightsalmon lightseagreen lightskyblue ' +
    'lightslategray lightslategrey lightsteelblue lightyellow lime limegreen linen magenta maroon mediumaquamarine ' +
    'mediumblue mediumorchid mediumpurple mediumseagreen mediumslateblue mediumspringgreen mediumturquoise ' +
    'mediumvioletred midnightblue mintcream mistyrose moccasin navajowhite navy oldlace olive olivedrab orange orangered ' +
    'orchid palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff peru pink plum powderblue purple ' +
    'rebeccapurple red rosybrown royalblue saddlebrown salmon sandybrown seagreen seashell sienna silver skyblue ' +
    'slateblue slategray slategrey snow springgreen steelblue tan teal thistle tomato transparent turquoise violet wheat ' +
    'white whitesmoke yellow yellowgreen'
  ).split(' '),
);

export function isCssColor(text: string): boolean {
  return hex.test(text) || names.has(text.toLowerCase()) || call.test(text);
}
