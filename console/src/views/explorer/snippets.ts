/**
 * A request as a program would make it. The key comes from the environment, secrets are left as words to replace, and
 * every text is written so that it arrives as it was typed, whatever is in it.
 */
import { jsonText } from './json-text';
import { isSecret } from './openapi';
import { addressPart, type WireRequest } from './request';

export type Language = 'curl' | 'python' | 'rust';

/** Returns the request as code; `base` is the address of the service, with a slash at its end. */
export function snippet(language: Language, request: WireRequest, base: string, isOpen: boolean): string {
  const shown: WireRequest = { ...request, json: hidden(request.json) };
  const url = base + addressPart(shown);
  return { curl, python, rust }[language](shown, url, isOpen);
}

/** Returns a value with words in the places of its secrets. */
function hidden(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, isSecret(name) ? `YOUR_${name.toUpperCase()}` : item]),
  );
}

/** Returns a text as one word of a shell. No word of a shell can hold a NUL. */
const quoteShell = (text: string): string => `'${text.replaceAll('\0', '').replaceAll("'", `'\\''`)}'`;

function curl(request: WireRequest, url: string, isOpen: boolean): string {
  const lines = [`curl${request.method === 'GET' ? '' : ` --request ${request.method}`} ${quoteShell(url)}`];
  if (!isOpen) lines.push('--header "Authorization: Bearer $TIMENAV_KEY"');
  for (const [name, value] of Object.entries(request.headers))
    lines.push(`--header ${quoteShell(`${name}: ${value}`)}`);
  if (request.headers.Accept === 'text/event-stream') lines.push('--no-buffer');
  if (request.file) lines.push(`--data-binary ${quoteShell(`@${request.file.name}`)}`);
  // `--data-raw`, because `--data` reads a file where the text begins with an @.
  else if (request.text !== null) lines.push(`--data-raw ${quoteShell(request.text)}`);
  else if (request.json !== undefined) lines.push(`--data-raw ${quoteShell(JSON.stringify(request.json, null, 2))}`);
  return lines.join(' \\\n  ');
}

/** Returns a text as a literal of Python. Every escape of JSON is one of Python's too. */
const quotePython = (text: string): string =>
  JSON.stringify(text).replace(/[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, unicode);
const unicode = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

function python(request: WireRequest, url: string, isOpen: boolean): string {
  const isStream = request.headers.Accept === 'text/event-stream';
  const isJson = request.json !== undefined;
  const body = request.file
    ? `open(${quotePython(request.file.name)}, "rb").read()`
    : request.text !== null
      ? `${quotePython(request.text)}.encode()`
      : 'json.dumps(body).encode()';
  const headers = [
    ...(isOpen ? [] : ['    "Authorization": "Bearer " + os.environ["TIMENAV_KEY"],']),
    ...Object.entries(request.headers).map(([name, value]) => `    ${quotePython(name)}: ${quotePython(value)},`),
  ];
  const hasBody = isJson || request.file !== null || request.text !== null;
  return [
    ...(isJson || answersJson(request) ? ['import json'] : []),
    ...(isOpen ? [] : ['import os']),
    'from urllib.request import Request, urlopen',
    '',
    ...(isJson ? [`body = ${pythonValue(request.json)}`] : []),
    'request = Request(',
    `    ${quotePython(url)},`,
    ...(hasBody ? [`    data=${body},`] : []),
    ...(headers.length > 0 ? ['    headers={', ...headers.map((line) => `    ${line}`), '    },'] : []),
    `    method=${quotePython(request.method)},`,
    ')',
    'with urlopen(request) as answer:',
    ...(isStream
      ? ['    for line in answer:', '        print(line.decode(), end="")']
      : [answersJson(request) ? '    print(json.load(answer))' : '    print(answer.read())']),
  ].join('\n');
}

const answersJson = (request: WireRequest): boolean =>
  (request.headers.Accept ?? 'application/json') === 'application/json';

function pythonValue(value: unknown, indent = ''): string {
  const inner = `${indent}    `;
  if (value === null) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'string') return quotePython(value);
  if (typeof value !== 'object') return jsonText(value);
  const isList = Array.isArray(value);
  const items = isList
    ? value.map((item) => pythonValue(item, inner))
    : Object.entries(value).map(([name, item]) => `${quotePython(name)}: ${pythonValue(item, inner)}`);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  return items.length === 0
    ? open + close
    : `${open}\n${items.map((item) => `${inner}${item},`).join('\n')}\n${indent}${close}`;
}

/**
 * Returns a text as a literal of Rust. A lone surrogate is no character there and travels as U+FFFD, as from a browser.
 */
function quoteRust(text: string): string {
  let quoted = '';
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    if (char === '"' || char === '\\') quoted += `\\${char}`;
    else if (char === '\n') quoted += '\\n';
    else if (code >= 0xd800 && code <= 0xdfff) quoted += '\\u{fffd}';
    else if (
      code < 0x20 ||
      (code >= 0x7f && code < 0xa0) ||
      (code >= 0x2028 && code <= 0x202e) ||
      (code >= 0x2066 && code <= 0x2069)
    )
      quoted += `\\u{${code.toString(16)}}`;
    else quoted += char;
  }
  return `"${quoted}"`;
}

const I32_MAX = 2_147_483_647;

function rustValue(value: unknown, indent: string): string {
  const inner = `${indent}    `;
  if (typeof value === 'string') return quoteRust(value);
  if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) > I32_MAX)
    return Math.abs(value) < 2 ** 63 ? `${BigInt(value)}_i64` : value.toExponential();
  if (typeof value !== 'object' || value === null) return String(value);
  const isList = Array.isArray(value);
  const items = isList
    ? value.map((item) => rustValue(item, inner))
    : Object.entries(value).map(([name, item]) => `${quoteRust(name)}: ${rustValue(item, inner)}`);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  return items.length === 0
    ? open + close
    : `${open}\n${items.map((item) => inner + item).join(',\n')}\n${indent}${close}`;
}

const RUST_METHODS: Record<string, string> = { GET: 'Method::GET', POST: 'Method::POST', DELETE: 'Method::DELETE' };

function rust(request: WireRequest, url: string, isOpen: boolean): string {
  const isStream = request.headers.Accept === 'text/event-stream';
  const method = RUST_METHODS[request.method] ?? `Method::from_bytes(b"${request.method}")?`;
  const skipped = request.json === undefined ? '' : 'Content-Type';
  const calls = [
    ...(isOpen ? [] : ['.bearer_auth(std::env::var("TIMENAV_KEY")?)']),
    ...Object.entries(request.headers)
      .filter(([name]) => name !== skipped)
      .map(([name, value]) => `.header(${quoteRust(name)}, ${quoteRust(value)})`),
    ...(request.file ? [`.body(std::fs::File::open(${quoteRust(request.file.name)})?)`] : []),
    ...(request.text !== null ? [`.body(${quoteRust(request.text)})`] : []),
    ...(request.json !== undefined ? [`.json(&serde_json::json!(${rustValue(request.json, '        ')}))`] : []),
    '.send()?',
  ];
  return [
    '// reqwest with the features "blocking" and "json", and serde_json',
    'use reqwest::{Method, blocking::Client};',
    '',
    'fn main() -> Result<(), Box<dyn std::error::Error>> {',
    `    let ${isStream ? 'mut ' : ''}answer = Client::${isStream ? 'builder().timeout(None).build()?' : 'new()'}`,
    `        .request(${method}, ${quoteRust(url)})`,
    ...calls.map((call) => `        ${call}`),
    ...(isStream
      ? ['    ;', '    std::io::copy(&mut answer, &mut std::io::stdout())?;']
      : ['    ;', '    println!("{}\\n{}", answer.status(), answer.text()?);']),
    '    Ok(())',
    '}',
  ]
    .join('\n')
    .replace(/\n {4};/, ';');
}
