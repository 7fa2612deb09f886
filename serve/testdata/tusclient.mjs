// Uploads to a server by tus-js-client, tus's reference client. TestTusClient runs it: URL is the
// server's, and lines on standard output ask the test for what a client cannot do, which it does
// before it answers with a line.
import { randomBytes } from 'node:crypto'
import { createReadStream, writeFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { createInterface } from 'node:readline'
import * as tus from 'tus-js-client'

const base = process.env.URL
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
let failures = 0

// request lets the test do something to the server.
async function request(what) {
  console.log(what)
  await lines.next()
}

// upload uploads data to a path, and returns the upload once it has ended.
function upload(path, data, more = {}, started = () => {}) {
  return new Promise((resolve, reject) => {
    const metadata = { path, ...(more.metadata ?? {}) }
    const one = new tus.Upload(data, {
      endpoint: base + '/-/tus/',
      retryDelays: [100, 200, 400, 800, 1600, 3200],
      metadataForPartialUploads: metadata,
      ...more,
      metadata,
      onError: reject,
      onSuccess: () => resolve(one),
    })
    started(one, resolve)
    if (!more.manual) one.start()
  })
}

// check compares a file on the server with what it should be.
async function check(name, path, want) {
  const answer = await fetch(base + '/' + path)
  const got = Buffer.from(await answer.arrayBuffer())
  if (answer.status !== 200 || !got.equals(want)) {
    failures++
    console.log(`FAIL ${name}: ${path}: ${answer.status}, ${got.length} bytes, want ${want.length}`)
  }
}

async function must(name, fn) {
  if (only && only !== name) return
  const start = Date.now()
  try {
    await fn()
    console.log(`ok ${name} ${Date.now() - start} ms`)
  } catch (err) {
    failures++
    console.log(`FAIL ${name}: ${err.message.replaceAll('\n', ' ')}`)
  }
}

function expect(what, got, want) {
  if (got !== want) throw new Error(`${what}: ${got}, want ${want}`)
}

// interrupted starts an upload, and calls then, once, when a part of it has come.
function interrupted(path, data, more, then) {
  return new Promise((resolve, reject) => {
    let done = false
    upload(path, data, {
      chunkSize: 200_000,
      ...more,
      onChunkComplete: async (size, accepted) => {
        if (done || accepted < data.length / 3) return
        done = true
        resolve(await then(one))
      },
    }, (u) => { one = u }).then(resolve, reject)
    var one
  })
}

const data = randomBytes(3_000_000)
const only = process.argv[2] // the name of a case, or all of them

await must('whole', async () => {
  await upload('whole', data)
  await check('whole', 'whole', data)
})

await must('chunks', async () => {
  await upload('new dir/chünks', data, { chunkSize: 333_333 })
  await check('chunks', 'new%20dir/ch%C3%BCnks', data)
})

await must('parallel', async () => {
  for (const parallelUploads of [2, 5]) {
    await upload(`parallel${parallelUploads}`, data, { parallelUploads })
    await check('parallel', `parallel${parallelUploads}`, data)
  }
  await upload('parallel chunks', data, { parallelUploads: 3, chunkSize: 100_000, headers: { 'X-Test': '1' } })
  await check('parallel', 'parallel%20chunks', data)
})

await must('creation with upload', async () => {
  for (const size of [0, 1, 100_000]) {
    await upload(`during${size}`, data.subarray(0, size), { uploadDataDuringCreation: true })
    await check('creation with upload', `during${size}`, data.subarray(0, size))
  }
})

await must('many at once', async () => {
  await Promise.all(Array.from({ length: 20 }, (_, i) => upload(`many/${i}`, data.subarray(i, 100_000 + i * 1000))))
  for (let i = 0; i < 20; i++) await check('many', `many/${i}`, data.subarray(i, 100_000 + i * 1000))
})

await must('abort and resume', async () => {
  const url = await interrupted('aborted', data, {}, async (one) => { await one.abort(); return one.url })
  expect('not complete', (await fetch(base + '/aborted')).status, 404)
  let first = -1
  await upload('aborted', data, { uploadUrl: url, onProgress: (sent) => { if (first < 0) first = sent } })
  if (first < data.length / 3) throw new Error(`it went on at ${first}`)
  await check('abort and resume', 'aborted', data)
})

await must('server killed', async () => {
  for (const options of [{}, { parallelUploads: 3 }]) {
    const path = `killed${options.parallelUploads ?? 1}`
    let killed
    await upload(path, data, {
      chunkSize: 100_000, ...options,
      // The client never repeats the request that puts parts together, so that must not meet the kill.
      onBeforeRequest: () => options.parallelUploads && killed,
      onProgress: (sent) => {
        if (!killed && sent >= data.length / 3) killed = request('kill')
      },
    })
    if (!killed) throw new Error('no kill')
    await check('server killed', path, data)
  }
})

await must('termination', async () => {
  const url = await interrupted('terminated', data, {}, async (one) => { await one.abort(true); return one.url })
  const head = await fetch(url, { method: 'HEAD', headers: { 'Tus-Resumable': '1.0.0' } })
  expect('a terminated upload', head.status, 404)
  expect('its file', (await fetch(base + '/terminated')).status, 404)
  await tus.Upload.terminate(url).catch(() => {})
})

await must('deferred length', async () => {
  for (const chunkSize of [700_000, 4_000_000]) { // by a multiple the client hangs: its issue 779
    const source = new PassThrough({ highWaterMark: data.length + 1 })
    source.end(data)
    await upload(`deferred${chunkSize}`, source, { uploadLengthDeferred: true, chunkSize })
    await check('deferred length', `deferred${chunkSize}`, data)
  }
})

await must('wrong offset', async () => {
  const url = await interrupted('offset', data, {}, async (one) => { await one.abort(); return one.url })
  for (const offset of ['0', '2999999', '-1', 'x', '99999999999999999999']) {
    const answer = await fetch(url, {
      method: 'PATCH', body: 'x',
      headers: { 'Tus-Resumable': '1.0.0', 'Upload-Offset': offset, 'Content-Type': 'application/offset+octet-stream' },
    })
    expect(`offset ${offset}`, answer.status, /^\d{1,18}$/.test(offset) ? 409 : 400)
  }
  await upload('offset', data, { uploadUrl: url })
  await check('wrong offset', 'offset', data)
})

await must('expired', async () => {
  const url = await interrupted('expired', data, {}, async (one) => { await one.abort(); return one.url })
  await request('expire')
  await upload('expired', data, { uploadUrl: url })
  await check('expired', 'expired', data)
})

await must('resumed by what the client has stored', async () => {
  writeFileSync('source', data)
  const more = { urlStorage: new tus.FileUrlStorage('urls'), removeFingerprintOnSuccess: true, chunkSize: 200_000 }
  await interrupted('stored', createReadStream('source'), more, (one) => one.abort())
  let first = -1
  await upload('stored', createReadStream('source'), { ...more, manual: true, onProgress: (sent) => { if (first < 0) first = sent } }, async (one) => {
    one.resumeFromPreviousUpload((await one.findPreviousUploads())[0])
    one.start()
  })
  if (first <= 0) throw new Error(`it went on at ${first}`)
  await check('resumed', 'stored', data)
})

await must('taken names', async () => {
  let status = 0
  await upload('whole', data, { retryDelays: null }).catch((err) => { status = err.originalResponse.getStatus() })
  expect('a name that is taken', status, 409)
  await upload('whole', data.subarray(0, 10), { metadata: { overwrite: '1' } })
  await check('overwrite', 'whole', data.subarray(0, 10))
  await upload('/-/../../escape', data, { retryDelays: null }).catch((err) => { status = err.originalResponse.getStatus() })
  expect('a path that leads out', status, 400)
})

const options = await fetch(base + '/-/tus/', { method: 'OPTIONS' })
console.log('extensions', options.headers.get('Tus-Extension'))
console.log(failures === 0 ? 'PASS' : `FAILED ${failures}`)
process.exit(failures)
