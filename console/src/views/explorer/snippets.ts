/**
 * A request as code. The API key comes from the environment, secrets are placeholders, and all texts are quoted so that
 * they arrive unchanged.
 */
import { addressPart, type WireRequest } from './draft';
import { isSecret } from './openapi';

export type Language = 'curl' | 'python' | 'rust';

/** Returns the request as code. `base` is the URL of the service with a trailing slash. */
export function snippet(language: Language, request: WireRequest, base: string, isOpen: boolean): string {
  const visible = { ...request, json: masked(request.json) };
  return { curl, python, rust }[language](visible, base + addressPart(visible), isOpen);
}

function masked(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const mask = (name: string, item: unknown): unknown => (isSecret(name) ? `YOUR_${name.toUpperCase()}` : item);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mask(name, item)]));
}

const isStream = (request: WireRequest): boolean => request.headers.Accept === 'text/event-stream';

/** Quotes a text as one shell word. NUL is dropped because a shell word cannot contain it. */
const quoteShell = (text: string): string => `'${text.replaceAll('\0', '').replaceAll("'", `'\\''`)}'`;

function curl(request: WireRequest, url: string, isOpen: boolean): string {
  const lines = [`curl${request.method === 'GET' ? '' : ` --request ${request.method}`} ${quoteShell(url)}`];
  if (!isOpen) lines.push('--header "Authorization: Bearer $TIMENAV_KEY"');
  for (const [name, value] of Object.entries(request.headers))
    lines.push(`--header ${quoteShell(`${name}: ${value}`)}`);
  if (isStream(request)) lines.push('--no-buffer');
  const json = request.json === undefined ? null : JSON.stringify(request.json, null, 2);
  const text = request.text ?? json;
  if (request.file) lines.push(`--data-binary ${quoteShell(`@${request.file.name}`)}`);
  // `--data-raw`, because `--data` reads a file if the text begins with an @.
  else if (text !== null) lines.push(`--data-raw ${quoteShell(text)}`);
  return lines.join(' \\\n  ');
}

/** Formats JSON with the literals of another language. `literal` gets each token, and strings with their quotes. */
function jsonAs(value: unknown, literal: (token: string) => string, indent = 0): string {
  const tokens = /"(?:\\.|[^"\\])*"|-?\d[\d.eE+-]*|true|false|null/g;
  return JSON.stringify(value, null, 4)
    .replace(tokens, literal)
    .replaceAll('\n', `\n${' '.repeat(indent)}`);
}

/** Characters that change how code is displayed. */
const HIDDEN = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;
const escaped = (text: string): string =>
  text.replace(HIDDEN, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Every JSON escape is valid in Python too. */
const pythonLiteral = (token: string): string =>
  ({ null: 'None', true: 'True', false: 'False' })[token] ?? escaped(token);
const quotePython = (text: string): string => pythonLiteral(JSON.stringify(text));

function python(request: WireRequest, url: string, isOpen: boolean): string {
  const isJson = request.json !== undefined;
  const answersJson = (request.headers.Accept ?? 'application/json') === 'application/json';
  const body = request.file
    ? `open(${quotePython(request.file.name)}, "rb").read()`
    : request.text !== null
      ? `${quotePython(request.text)}.encode()`
      : isJson && 'json.dumps(body).encode()';
  const headers = Object.entries(request.headers).map(([name, value]) => `${quotePython(name)}: ${quotePython(value)}`);
  if (!isOpen) headers.unshift('"Authorization": "Bearer " + os.environ["TIMENAV_KEY"]');
  const read = answersJson ? 'print(json.load(response))' : 'print(response.read())';
  return [
    ...(isJson || answersJson ? ['import json'] : []),
    ...(isOpen ? [] : ['import os']),
    'from urllib.request import Request, urlopen',
    '',
    ...(isJson ? [`body = ${jsonAs(request.json, pythonLiteral)}`] : []),
    'request = Request(',
    `    ${quotePython(url)},`,
    ...(body ? [`    data=${body},`] : []),
    ...(headers.length > 0 ? ['    headers={', ...headers.map((line) => `        ${line},`), '    },'] : []),
    `    method=${quotePython(request.method)},`,
    ')',
    'with urlopen(request) as response:',
    ...(isStream(request) ? ['    for line in response:', '        print(line.decode(), end="")'] : [`    ${read}`]),
  ].join('\n');
}

/**
 * Integers above 32 bits need a type suffix. A lone surrogate is not a character, so it becomes U+FFFD as in a browser.
 */
function rustLiteral(token: string): string {
  if (token.startsWith('"'))
    return escaped(token).replace(/\\(u([0-9a-f]{4})|.)/g, (whole, char: string, code?: string) => {
      if (code) return /^d[89a-f]/.test(code) ? '\\u{fffd}' : `\\u{${code.replace(/^0+(?=.)/, '')}}`;
      return { b: '\\u{8}', f: '\\u{c}' }[char] ?? whole;
    });
  if (!/^-?\d+$/.test(token) || Math.abs(Number(token)) < 2 ** 31) return token;
  return Math.abs(Number(token)) < 2 ** 63 ? `${token}_i64` : Number(token).toExponential();
}
const quoteRust = (text: string): string => rustLiteral(JSON.stringify(text));

function rust(request: WireRequest, url: string, isOpen: boolean): string {
  const isConstant = ['GET', 'POST', 'DELETE', 'PATCH'].includes(request.method);
  const method = isConstant ? `Method::${request.method}` : `Method::from_bytes(b"${request.method}")?`;
  const isJson = request.json !== undefined;
  const headers = Object.entries(request.headers).filter(([name]) => !(isJson && name === 'Content-Type'));
  const client = isStream(request) ? 'builder().timeout(None).build()?' : 'new()';
  const calls = [
    `let ${isStream(request) ? 'mut ' : ''}response = Client::${client}`,
    `    .request(${method}, ${quoteRust(url)})`,
    ...(isOpen ? [] : ['    .bearer_auth(std::env::var("TIMENAV_KEY")?)']),
    ...headers.map(([name, value]) => `    .header(${quoteRust(name)}, ${quoteRust(value)})`),
    ...(request.file ? [`    .body(std::fs::File::open(${quoteRust(request.file.name)})?)`] : []),
    ...(request.text !== null ? [`    .body(${quoteRust(request.text)})`] : []),
    ...(isJson ? [`    .json(&serde_json::json!(${jsonAs(request.json, rustLiteral, 8)}))`] : []),
    '    .send()?;',
    isStream(request)
      ? 'std::io::copy(&mut response, &mut std::io::stdout())?;'
      : 'println!("{}\\n{}", response.status(), response.text()?);',
    'Ok(())',
  ];
  return [
    '// reqwest with the features "blocking" and "json", and serde_json',
    'use reqwest::{Method, blocking::Client};',
    '',
    'fn main() -> Result<(), Box<dyn std::error::Error>> {',
    ...calls.map((call) => `    ${call}`),
    '}',
  ].join('\n');
}
