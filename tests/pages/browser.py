"""browser.py: the pages in headless Chromium, through its driver.
    browser.py LENGTHEN SOURCE BUILD [axe]
With `axe` the accessibility of the pages is checked with axe-core, which npm puts into BUILD/axe; where that cannot be
had the exit code is 77, which ctest shows as skipped. Without it, everything else. Figures of the pages go to
BUILD/pages as PNG files, to be looked at."""
import hashlib, http.client, json, os, re, shutil, signal, subprocess, sys, tempfile, time
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

LENGTHEN, SOURCE, BUILD = (os.path.abspath(a) for a in sys.argv[1:4])
HOME = tempfile.mkdtemp(prefix='lengthen-pages-')
SHOTS = os.path.join(BUILD, 'pages')
STORE = os.path.join(HOME, 'lab.db')
ENV = dict(os.environ, LENGTHEN_STORE=STORE)
CONFIG = '''task: {name: parity-scratchpad}
positions: {ids: coupled, source: delta, encoding: relative, span: window, window: [0, 1]}
model: {width: 32, heads: 2}
train: {steps: 200, lr: 4e-3, warmup: 20, length: [1, 10]}
eval: {lengths: [10, 20, 40], samples: 20}
'''


def lengthen(*words, **more):
    r = subprocess.run([LENGTHEN, *words], cwd=HOME, env=ENV, capture_output=True, text=True, **more)
    assert r.returncode == 0, (words, r.returncode, r.stdout, r.stderr)
    return r.stdout


def prepare():
    os.makedirs(SHOTS, exist_ok=True)
    with open(os.path.join(HOME, 'parity.yaml'), 'w') as f:
        f.write(CONFIG)
    lengthen('train', 'parity.yaml', '--out', 'runs/window')
    lengthen('train', 'parity.yaml', '--out', 'runs/full', '--set', 'positions.span=full', '--set', 'positions.encoding=rope', '--set', 'seed=7')
    lengthen('eval', 'runs/window')
    lengthen('eval', 'runs/full')
    lengthen('report', 'window', 'full', '-o', 'two.html', '--prompt', '1 0 1 =')
    lengthen('sample', 'addition', '--html', 'sample.html', '--window', '-1..1')
    lengthen('report', '--experiments', SOURCE + '/experiments', '--results', SOURCE + '/results', '-o', 'all.html')


class Browser:
    def __init__(self):
        self.downloads = os.path.join(HOME, 'downloads')
        os.makedirs(self.downloads, exist_ok=True)
        o = webdriver.ChromeOptions()
        o.binary_location = shutil.which('chromium')
        for a in ('--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars', '--window-size=1200,1400'):
            o.add_argument(a)
        o.set_capability('goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'})
        o.add_experimental_option('prefs', {'download.default_directory': self.downloads})
        self.d = webdriver.Chrome(service=Service(shutil.which('chromedriver')), options=o)
        self.d.execute_cdp_cmd('Page.setDownloadBehavior', {'behavior': 'allow', 'downloadPath': self.downloads})

    def size(self, width, height=1400):
        self.d.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': False})

    def scheme(self, name):
        self.d.execute_cdp_cmd('Emulation.setEmulatedMedia', {'features': [{'name': 'prefers-color-scheme', 'value': name}]})

    def open(self, name):
        self.d.get(name if '://' in name else 'file://' + os.path.join(HOME, name))

    def find(self, css):
        return self.d.find_elements(By.CSS_SELECTOR, css)

    def one(self, css):
        return self.wait(lambda: self.find(css), css)[0]

    def js(self, text, *a):
        return self.d.execute_script(text, *a)

    def wait(self, what, name='', seconds=20):
        return WebDriverWait(self.d, seconds, .1, [StaleElementReferenceException]).until(lambda _: what(), name)

    def click(self, css):
        """Also where a row is replaced while it is looked for."""
        self.wait(lambda: self.one(css).click() or True, css)

    def whole(self):
        """Nothing that a script could not say."""
        text = self.js('return document.querySelector("main").textContent')
        for word in ('[object', 'undefined', 'NaN', 'null'):
            assert word not in text, text[max(0, text.index(word) - 100):text.index(word) + 50]

    def shot(self, name):
        self.d.save_screenshot(os.path.join(SHOTS, name + '.png'))

    def clean(self, *allowed):
        """No console error, and no request that leaves the machine."""
        bad = [l for l in self.d.get_log('browser') if l['level'] in ('SEVERE', 'WARNING')]
        assert not bad, bad
        seen = 0
        for entry in self.d.get_log('performance'):
            m = json.loads(entry['message'])['message']
            if m['method'] != 'Network.requestWillBeSent':
                continue
            url = m['params']['request']['url']
            seen += 1
            assert url.startswith(('file://' + HOME, 'data:', 'blob:', *allowed)), url
        assert seen > 0
        return seen


def fits(b, width):
    b.size(width)
    b.wait(lambda: b.js('return document.documentElement.scrollWidth') <= width, f'no overflow at {width}')


def downloaded(b, button, ending):
    before = set(os.listdir(b.downloads))
    button.click()

    def new():
        return [f for f in set(os.listdir(b.downloads)) - before if f.endswith(ending)]
    name = b.wait(new, 'a file ' + ending)[0]
    with open(os.path.join(b.downloads, name), 'rb') as f:
        return f.read()


def check_chart(b, figure):
    svg = figure.find_element(By.CSS_SELECTOR, 'svg[tabindex]')
    b.js('arguments[0].scrollIntoView({block: "center"})', svg)
    ActionChains(b.d).move_to_element(svg).perform()
    tip = figure.find_element(By.CSS_SELECTOR, '.tip')
    b.wait(tip.is_displayed, 'values under the pointer')
    assert re.search(r'window.*: .*%', tip.text), tip.text
    svg.send_keys(Keys.END)
    note = figure.find_element(By.CSS_SELECTOR, '.live-note')
    b.wait(lambda: 'length (bits) 40' in note.get_attribute('textContent'), 'values by keyboard')
    paths = lambda: len(figure.find_elements(By.CSS_SELECTOR, 'svg[tabindex] path[stroke-width]'))
    before, key = paths(), figure.find_element(By.CSS_SELECTOR, '.legend button')
    key.click()
    b.wait(lambda: paths() == before - 1, 'a hidden line')
    assert figure.find_element(By.CSS_SELECTOR, '.legend button').get_attribute('aria-pressed') == 'false'
    figure.find_element(By.CSS_SELECTOR, '.legend button').click()
    b.wait(lambda: paths() == before, 'a line that is shown again')
    table, svg_button, png, csv = figure.find_elements(By.CSS_SELECTOR, '.tools button')
    text = downloaded(b, svg_button, '.svg').decode()
    assert text.startswith('<svg') and '#0072b2' in text and 'var(' not in text
    image = downloaded(b, png, '.png')
    assert image[:8] == b'\x89PNG\r\n\x1a\n' and len(image) > 3000
    rows = downloaded(b, csv, '.csv').decode().splitlines()
    assert rows[0].startswith('line,length (bits)') and len(rows) == 1 + 4 * 3, rows
    table.click()
    assert len(figure.find_elements(By.CSS_SELECTOR, 'tbody tr')) == 3


def check_method(b, box):
    b.js('arguments[0].scrollIntoView({block: "center"})', box)
    say = box.find_element(By.CSS_SELECTOR, '.say')
    b.wait(lambda: 'the query is' in say.text, 'the first step')
    first = say.text
    box.find_element(By.CSS_SELECTOR, '.step').click()
    assert say.text != first and 'Token' in say.text
    box.find_element(By.CSS_SELECTOR, '.back').click()
    assert say.text == first
    play = box.find_element(By.CSS_SELECTOR, '.play')
    play.click()
    assert play.text == 'Pause'
    b.wait(lambda: say.text != first, 'it plays', 5)
    play.click()
    stopped = say.text
    time.sleep(1.1)
    assert play.text == 'Play' and say.text == stopped
    assert box.find_elements(By.CSS_SELECTOR, 'svg path[stroke-width="2.4"]'), 'arcs'


def check_report(b):
    b.size(1200)
    b.scheme('light')
    b.open('two.html')
    texts = b.one('main').text
    for words in ('Asked.', 'Answer.', 'Loss in training', 'Given against predicted IDs', 'Where the configs differ', 'positions.span', 'To regenerate: lengthen report window full', 'What it writes'):
        assert words in texts or words == 'Asked.', words
    assert texts.index('Answer.') < texts.index('Training')
    b.whole()
    figures = b.find('figure.chart')
    answers = [f for f in figures if 'Exact answers by length' in f.text][0]
    check_chart(b, answers)
    check_method(b, b.find('section.method')[0])
    b.js('scrollTo(0, 0)')
    b.shot('report-light')
    light = b.js('return getComputedStyle(document.body).backgroundColor')
    b.scheme('dark')
    assert b.js('return getComputedStyle(document.body).backgroundColor') != light
    b.shot('report-dark')
    Select(b.one('#theme')).select_by_value('light')
    assert b.js('return getComputedStyle(document.body).backgroundColor') == light
    Select(b.one('#theme')).select_by_value('system')
    fits(b, 380)
    b.shot('report-380')
    pdf = b.d.execute_cdp_cmd('Page.printToPDF', {})['data']
    assert len(pdf) > 20000
    b.clean()


def check_sample(b):
    b.size(1200)
    b.open('sample.html')
    boxes = b.wait(lambda: b.find('section.method'), 'examples')
    assert len(boxes) == 3
    check_method(b, boxes[0])
    assert 'It sees' in boxes[0].text and 'differs by -1 to 1' in boxes[0].text
    b.shot('sample')
    b.clean()


def check_all(b):
    b.size(1200)
    b.scheme('light')
    b.open('all.html')
    names = [n for n in os.listdir(SOURCE + '/results') if os.path.exists(f'{SOURCE}/results/{n}/README.md')]
    assert len(b.wait(lambda: b.find('section.result'), 'results')) == len(names)
    assert len(b.find('figure.chart')) >= 40
    b.whole()
    assert 'of 3' in b.one('nav.toc').text
    b.shot('all')
    fits(b, 380)
    b.clean()


class Server:
    def __init__(self):
        self.p = subprocess.Popen([LENGTHEN, 'serve', '--port', '0', '--store', STORE], cwd=HOME, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = self.p.stdout.readline().strip()
        self.port = int(self.url.rstrip('/').rsplit(':', 1)[1])

    def status(self, path, host=None, method='GET'):
        c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=10)
        c.request(method, path, headers={'Host': host} if host else {})
        r = c.getresponse()
        body = r.read()
        c.close()
        return r.status, body

    def stop(self):
        self.p.send_signal(signal.SIGTERM)
        return self.p.wait(15)


def check_server(s):
    assert s.status('/')[0] == 200
    assert s.status('/', 'evil.example')[0] == 403
    assert s.status('/api/runs', 'localhost.evil.example')[0] == 403
    assert s.status('/api/runs', f'localhost:{s.port}')[0] == 200
    assert s.status('/api/runs', method='POST')[0] == 405
    assert s.status('/../lab.db')[0] == 404
    assert s.status('/api/run?run=x')[0] == 400
    assert s.status('/api/run?run=999')[0] == 422
    runs = json.loads(s.status('/api/runs?state=done&seed=7')[1])['runs']
    assert [r['name'] for r in runs] == ['full'], runs


def check_live(b, s):
    b.size(1200)
    b.scheme('light')
    b.open(s.url)
    b.wait(lambda: len(b.find('#runs tbody tr')) == 2, 'two runs')
    b.js('window.stays = 1')
    train = subprocess.Popen([LENGTHEN, 'train', 'parity.yaml', '--out', 'runs/live', '--set', 'train.steps=6000', '--set', 'seed=3'], cwd=HOME, env=ENV, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    b.wait(lambda: 'training' in b.one('#runs tr[data-run="3"]').text, 'it trains')
    b.click('#runs tr[data-run="3"] input')
    curve = lambda: b.js('const p = document.querySelector("#view figure.chart svg[tabindex] path[stroke-width]"); return p ? p.getAttribute("d") : ""')
    first = b.wait(curve, 'its curve')
    b.wait(lambda: curve() != first, 'the curve moves')
    assert 'training' in b.one('[data-state="3"]').text, 'it was seen to move while it trained'
    b.wait(lambda: b.one('#runs tr[data-run="3"] .state').text == 'done', 'it is done', 60)
    b.wait(lambda: b.one('[data-state="3"]').text == 'done', 'its page says so')
    assert train.wait() == 0
    assert b.js('return window.stays') == 1, 'no reload'
    Select(b.one('select[name=seed]')).select_by_visible_text('7')
    b.wait(lambda: len(b.find('#runs tbody tr')) == 1, 'one seed')
    Select(b.one('select[name=seed]')).select_by_visible_text('all')
    b.click('#runs tr[data-run="3"] input')
    b.click('#runs tr[data-run="1"] input')
    b.wait(lambda: 'window' == b.one('#view h2').text, 'one run')
    b.click('#runs tr[data-run="2"] input')
    b.wait(lambda: b.one('#view h2').text == '2 runs compared', 'two compared')
    b.wait(lambda: 'Where the configs differ' in b.one('#view').text, 'the difference')
    b.whole()
    b.shot('live-compare')
    with open(STORE, 'rb') as f:
        before = hashlib.sha256(f.read()).hexdigest()
    b.open(s.url + '#run=1')
    b.wait(lambda: b.one('#view h2').text == 'window', 'its page')
    form = b.wait(lambda: b.find('#view form'), 'a prompt')[0]
    form.find_element(By.NAME, 'prompt').send_keys('1 1 0 =')
    form.find_element(By.CSS_SELECTOR, 'button').click()
    box = b.wait(lambda: b.find('.generated section.method'), 'the answer')[0]
    check_method(b, box)
    b.js('document.querySelector(".generated").scrollIntoView({block: "center"})')
    b.shot('live-method')
    b.js('scrollTo(0, 0)')
    b.scheme('dark')
    b.shot('live-dark')
    fits(b, 380)
    b.shot('live-380')
    with open(STORE, 'rb') as f:
        assert hashlib.sha256(f.read()).hexdigest() == before, 'the store is only read'
    assert b.clean(s.url) > 5


def axe_source():
    folder = os.path.join(BUILD, 'axe')
    path = os.path.join(folder, 'node_modules', 'axe-core', 'axe.min.js')
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        try:
            subprocess.run(['npm', 'install', '--prefix', folder, '--no-audit', '--no-fund', '--silent', 'axe-core@4'], check=True, timeout=60, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except (OSError, subprocess.SubprocessError):
            print('axe-core cannot be installed with npm here')
            sys.exit(77)
    with open(path) as f:
        return f.read()


def serious(b):
    found = b.d.execute_async_script('const done = arguments[0]; axe.run(document, {resultTypes: ["violations"]}).then(r => done(r.violations))')
    return [(v['id'], v['impact'], v['nodes'][0]['html'][:200], v['nodes'][0].get('failureSummary', '')[:300]) for v in found if v['impact'] in ('serious', 'critical')]


def check_axe(b, source, name, where):
    b.open(where)
    b.wait(lambda: b.find('section.method, #runs tbody tr'), name)
    time.sleep(.5)
    b.js(source)
    for scheme in ('light', 'dark'):
        b.scheme(scheme)
        bad = serious(b)
        assert not bad, (name, scheme, bad)
    b.js('const i = new Image(); i.src = "data:image/gif;base64,R0lGODlhAQABAAAAACw="; document.querySelector("main").append(i)')
    assert 'image-alt' in [v[0] for v in serious(b)], 'an image without words is found'


def main():
    prepare()
    b = Browser()
    s = None
    try:
        s = Server()
        if len(sys.argv) > 4:
            source = axe_source()
            b.d.set_script_timeout(60)
            for name, where in (('report', 'two.html'), ('sample', 'sample.html'), ('live', s.url + '#runs=1,2')):
                check_axe(b, source, name, where)
        else:
            check_report(b)
            check_sample(b)
            check_all(b)
            check_server(s)
            check_live(b, s)
            assert s.stop() == 0, 'SIGTERM ends it'
            s = None
    finally:
        b.d.quit()
        if s:
            s.stop()
        shutil.rmtree(HOME, ignore_errors=True)


if __name__ == "__main__":
    main()
