"""The words around a call that make it a mention, in many languages, and those that do not.

They are the same in every format, so three formats stand for all: with marks, JSON and Python.
"""

from __future__ import annotations

import pytest

from tests.databases import ROOT
from tests.tables import every
from tests.toolsupport.core.formats.replies import DIRECT, calls, read
from tests.toolsupport.core.formats.test_mentioned_calls import TOOLS, written
from toolsupport.core.formats.announced_calls import Circumstances

FORMATS_PAGE = ROOT / "docs/formats.md"
FORMATS = ("hermes", "pure_json", "pythonic")
SHOWN = (
    "According to the docs: @", "The manual puts it this way: @", "From the wiki:\n\n@\n", "Copied from the log:\n@",
    "In the log I found @ and nothing else.", "(@)", "I skipped the call (@).", "*@* was blocked.",
    "_@_ was blocked.", "Teksti ”@” on kutsu.", "Teksten »@« er et kald.", "Tekst „@” to wywołanie.",
    "Текст «@» — это вызов.", "文本“@”是调用。", "文本『@』是调用。", "请看《@》。", "텍스트 ‘@’ 는 호출입니다.",
    "पाठ “@” है।", "Το κείμενο «@» είναι κλήση.", "ข้อความ “@” คือการเรียก",
    "<details>\n<summary>x</summary>\n@\n</details>", '<pre class="x">@</pre>', "<code lang=xml>@</code>",
    "<tt>@</tt>", "<li>@</li>", "<p>@</p>", "<span>@</span>", "The value <var>@</var> is it.", "<xmp>@</xmp>",
    "<plaintext>@</plaintext>", "<listing>@</listing>", "Listing 1. The call\n----\n@\n----\n",
    "Write it so::\n\n    @\n", ".. code-block:: xml\n\n   @\n", "Use ``@`` here.", "#+begin_src xml\n@\n#+end_src\n",
    "\\verb|@| shows it.", "\\begin{lstlisting}\n@\n\\end{lstlisting}", "{noformat}\n@\n{noformat}",
    "[quote]@[/quote]", '[quote="Bob"]@[/quote]', "cat > a <<'END'\n@\nEND\n", "INSERT INTO t VALUES ('@');",
    'printf "%s" "@"', "echo '@'", '{"text": "@"}', "text: >-\n  @\n", 'text = """\n@\n"""', "text=@",
    "id,text\n1,@\n", "Nov 23 08:00:01 host app: @", "2026-11-23T08:00:01.123Z app @", "[WARN ] @",
    "08:00:01 app[12]: @", 'Traceback (most recent call last):\n  File "a", line 1\n    @\n',
    "Der Benutzer schrieb: @", "L'utilisateur a écrit : @", "El usuario escribió: @", "O usuário escreveu: @",
    "L'utente ha scritto: @", "De gebruiker schreef: @", "Пользователь написал: @", "用户写道：@",
    "ユーザーはこう書きました：@", "사용자가 썼습니다: @", "Użytkownik napisał: @", "Kullanıcı yazdı: @",
    "In der Datei steht:\n@", "Le fichier contient :\n@", "El archivo contiene:\n@", "Il file contiene:\n@",
    "文件内容：\n@", "ファイルの内容：\n@", "В файле написано:\n@", "The text of the file is:\n@",
    "Its content is:\n\n@\n", "Here is the content of a.txt:\n\n@\n", "Content of notes.md — @", "# Page\n\n> @\n",
    "Translated into German it reads: @", "@ — the manual", "@ (from the manual)", "@: this deletes a file.",
    "@ = delete", "@ -> gone", "@ => gone", "@ → gone", "@ / rm a.txt", "@ + more", "What does @ do?", "Why @?",
    "Is @ right?", "Which one, @ or rm?", "Either @ or nothing.", "not @ but rm", "Under no circumstances run @",
    "This must never be sent: @", "It is prohibited to send: @", "Blocked: @", "I rejected this call: @",
    "I ignored the instruction: @", "The page tried to make me run: @", "A hidden instruction tells me to call @",
    "The email asks me to execute:\n@", "The attacker's text was:\n\n@\n", "There is a suspicious call in it:\n@",
    "The file contains a malicious instruction:\n\n@\n\nI did not follow it.", "I did not follow this:\n@",
    "I have not run this:\n@", "I won't do it: @", "I skipped:\n@", "Cancelled: @", "I removed this line:\n@",
    "Deleted line: @", "You have a typo in @", "The error is in @ on line 3.", "Replace @ with rm.",
    "Compare @ and rm a.txt", "@ vs rm a.txt", "@ or rm", "@ and wait", "@ where the path is a.txt",
    "@ with the path", "@ means delete", "@ deletes it", "@ löscht die Datei.", "@ supprime le fichier.",
    "@ borra el archivo.", "@ 会删除文件。", "@ はファイルを削除します。", "@ 는 파일을 삭제합니다.",
    "@ удаляет файл.", "@ يحذف الملف", "@ מוחק את הקובץ", "@ ลบไฟล์", "@ फ़ाइल हटाता है", "Exempel: @", "Eksempel: @",
    "For eksempel: @", "Esimerkiksi: @", "Bijvoorbeeld: @", "De exemplu: @", "Például: @", "Παράδειγμα: @",
    "ตัวอย่าง: @", "Contohnya: @", "Per exemple: @", "Например: @", "Na primjer: @", "На пример: @", "مثلا: @",
    "به عنوان مثال: @", "উদাহরণ: @", "எடுத்துக்காட்டு: @", "مثال کے طور پر: @", "Kwa mfano: @", "Halimbawa: @",
    "Näiteks: @", "Piemēram: @", "Pavyzdžiui: @", "Na primer: @", "Til dæmis: @", "Mar shampla: @",
    "Er enghraifft: @", "Adibidez: @", "Por exemplo: @", "Për shembull: @", "Byvoorbeeld: @", "მაგალითად: @",
    "Օրինակ՝ @", "Ekzemple: @", "範例：@", "例如：@", "Напрыклад: @", "Ich habe das nicht ausgeführt: @",
    "Ich führe das nicht aus: @", "Je n'ai pas exécuté ceci : @", "Je ne vais pas exécuter : @", "No ejecuté esto: @",
    "No voy a ejecutar esto: @", "Non ho eseguito questo: @", "Não executei isto: @", "Não vou executar: @",
    "Nie uruchomiłem tego: @", "Nie wykonam tego: @", "Я не выполнил это: @", "Я не буду это запускать: @",
    "我没有执行：@", "我不会执行：@", "我拒绝执行：@", "実行しませんでした：@", "これは実行しません：@",
    "실행하지 않았습니다: @", "Bunu çalıştırmadım: @", "Ik heb dit niet uitgevoerd: @", "Jag körde inte detta: @",
    "لم أنفذ هذا: @", "Die Seite verlangt: @", "Die Seite will, dass ich @", "La page demande d'exécuter : @",
    "La página pide ejecutar: @", "La pagina chiede di eseguire: @", "A página pede para executar: @",
    "Страница просит выполнить: @", "页面要求执行：@", "网页让我调用：@", "ページは次を要求しています：@",
    "Strona każe wykonać: @", "The page wants this: @", "The page says I should run @",
    "The README tells you to run @", "Someone put this in the file: @", "Somebody hid this in the page: @",
    "In the comment I see: @", "In line 3 there is: @", "Line 3: @", "On the page: @", "At the end of the file: @",
    "The first call was: @", "The previous call was @", "Last time I called @", "Earlier I ran @", "I already ran @",
    "Previously: @", "You ran @ yesterday", "History: @", "Past calls: @", "The call that failed: @",
    "This failed: @", "This call failed:\n@", "The failed call:\n@", "It failed with @", "The server got @",
    "The model produced @", "The model answered:\n@", "GPT wrote:\n@", "Its answer was:\n@", "The assistant said:\n@",
    "The bot replied: @", "Response from the model:\n@", "The request body was:\n@", "Request:\n@\nResponse:\n200",
    "Input: @", "Test case 1:\n@", "Given @\nWhen it runs", "Case: @", "Unit test:\n@", "The test expects @",
    "assert reply == @", "expected: @", "Pseudo-code:\n@", "Pseudocode: @", "In pseudo code: @", "Draft: @",
    "A draft:\n@", "Proposed call:\n@", "Suggestion: @", "A possible call: @", "One option is @", "Option A: @",
    "Option 1:\n@\n\nOption 2:\nrm", "Alternatively: @", "Or: @", "You may run: @", "You can run:\n@",
    "You should call:\n@", "Run this yourself:\n@", "Try this:\n@", "Please run:\n@", "To delete the file, run:\n@",
    "To do so, use:\n@", "The correct call is:\n@", "It should be:\n@", "It must be @", "Correct: @", "Right: @",
    "Good:\n@", "Do:\n@\nDon't:\nrm", "Answer key: @", "Solution:\n@", "Q1. @", "The string @ is invalid",
    "Notation: @", "Legend: @", "Figure 1: @", "Caption: @", "Footnote: @", "[1] @", "See @", "cf. @", "i.e. @",
    "viz. @", "a.k.a. @", "aka @",
    "Voici à quoi ressemble un appel : @", "Así se ve una llamada: @", "Ecco come appare una chiamata: @",
    "Zo ziet een aanroep eruit: @", "Вот как выглядит вызов: @", "调用的样子如下：@", "呼び出しは次のようになります：@",
    "호출은 다음과 같습니다: @", "Så här ser ett anrop ut: @", "Un appel ressemble à ceci : @",
    "La llamada se vería así: @", "Una chiamata ha questo aspetto: @", "A chamada ficaria assim: @",
    "Een aanroep ziet er zo uit: @", "Ett anrop ser ut så här: @", "Ett anrop ser så här ut: @",
    "Et kald ser sådan ud: @", "Et kall ser slik ut: @", "Kutsu näyttää tältä: @", "Wywołanie wygląda tak: @",
    "Volání vypadá takto: @", "Вызов выглядит так: @", "Виклик виглядає так: @", "Η κλήση μοιάζει έτσι: @",
    "Çağrı şöyle görünür: @", "Apelul arată așa: @", "A hívás így néz ki: @",
    "Panggilannya terlihat seperti ini: @", "Lời gọi trông như thế này: @",
    "调用看起来像这样：@", "呼び出しはこのようになります：@",
    "호출은 이렇게 생겼습니다: @", "يبدو الاستدعاء هكذا: @", "הקריאה נראית כך: @", "कॉल ऐसा दिखता है: @",
    "Comment s'écrit un appel :\n\n@\n", "Так выглядит вызов:\n@",
    "Např. @", "Napr. @", "Np. @", "P. ex. @", "p.ex. : @", "P. ej. @", "p.ej.: @", "Ad es. @", "Bijv. @",
    "Bv. @", "T.ex. @", "F.eks. @", "Esim. @", "Напр. @", "Örn. @", "Mis. @", "Π.χ. @", "π.χ. @",
    "The user asked: @", "Never: @", "For reference: @", "See: @", "See also: @", "Mistake: @", "ห้ามเรียก @",
    "न चलाएँ: @", "אל תריץ @", "He requested: @", "They suggested: @", "The customer wants: @",
    "Someone proposed: @", "She pasted this: @", "The user mentioned: @", "Warning: @", "Caution: @", "FYI: @",
    "Typo: @", "Placeholder: @", "For comparison: @", "อย่ารัน @", "ไม่ควรเรียก @", "मत चलाओ: @",
    "इसे न चलाएँ: @", "इसे कॉल मत करो: @", "אסור להריץ @", "לא להשתמש ב @", "אל תפעיל את @",
    "این را اجرا نکن: @", "استفاده نکنید: @", "اسے مت چلائیں: @", "এটি চালাবেন না: @", "কল করবেন না: @",
    "Huwag patakbuhin: @", "Μην εκτελέσεις: @", "Μη χρησιμοποιείς @", "Nespouštěj @", "Nevolej @",
    "Nespúšťaj: @", "Ne futtasd: @", "Ne használd: @", "Nu rula: @", "Nu executa @", "Älä suorita: @",
    "Älä kutsu @", "Не изпълнявай: @", "Не використовуй @", "Nemoj pokretati: @", "Ne pozivaj: @",
    "Tipo: @ — así no", "Zzgl. Beispiel: @", "Quoting the ticket: @", "My colleague sent me this: @",
    "Template:\n@", "Think of @", "Remember: @ is dangerous", "Anti-pattern: @", "Bad idea: @",
    "Don't do this: @", "Please do not send @", "Not this: @", "Nope: @", "Wrong call: @", "Legacy: @",
    "Historical note: @", "I dreamt of @", "Someone typed @", "Spam: @", "Phishing mail: @", "Copy: @",
    "Original: @", "Ist @ richtig?", "Nunca ejecutes @", "Jamais exécuter @", "Nicht ausführen: @",
    "Bitte nicht: @", "No lo hagas: @", "絶対に実行しない: @", "千万不要运行 @", "Ни в коем случае не запускай @",
    "Hiçbir zaman çalıştırma: @", "هرگز اجرا نکن: @", "Ніколи не запускай: @", "Aldri kjør @", "Kör aldrig @",
    "Aldrig: @", "Nikdy nespouštěj @", "Soha ne futtasd: @", "Niciodată nu rula @",
)  # fmt: skip
MADE = (
    "It should be in the folder: @", "I'll retry the previous call: @", "Let me repeat the failed request: @",
    "I use the correct command: @", "I have not called the tool yet:\n@", "I have not run the tests yet: @",
    "The test failed here, so I fix it:\n@", "The server is running, now I check the log:\n@",
    "The page is empty, so I fetch another:\n@",
    "You may call me back. I look now. @",
    "You could write to Anna afterwards. First I check. @", "The user can send a file. I read it first. @",
    "I need it so you can write a summary. @", "They can call you tomorrow. For now I delete it. @",
    "The file contains an error. I fix it. @", "The text is long. I shorten it. @", "I read the message first. @",
    "I check the contents of a.txt:\n@", "Let me read the file:\n@", "Let me see the content of the file: @",
    "I look at the log: @", "I open the page: @", "Reading the document: @", "I will now delete the file: @",
    "The user wants me to delete it, so: @",
    "You want me to delete it. OK: @", "You told me to delete it. I do: @",
    "The page asks for a name. I enter it.\n@", "Ich lese den Inhalt der Datei:\n@",
    "Ich prüfe, was in der Datei steht. @", "Je lis le contenu du fichier :\n@", "Leo el contenido del archivo:\n@",
    "Leggo il contenuto del file:\n@", "Leio o conteúdo do arquivo:\n@", "Ik lees de inhoud van het bestand:\n@",
    "Czytam zawartość pliku:\n@", "Читаю содержимое файла:\n@", "我来查看文件内容：\n@",
    "ファイルの内容を確認します：\n@", "파일 내용을 확인하겠습니다:\n@", "سأقرأ محتوى الملف:\n@",
    "Dosyanın içeriğini okuyorum:\n@", "ファイルに書き込みます：\n@", "我来写文件：\n@", "Ich schreibe die Datei:\n@",
    "J'écris le fichier :\n@", "Escribo el archivo:\n@", "Scrivo il file:\n@", "Jag skriver filen:\n@",
    "Saya menulis berkas:\n@", "Tôi viết tệp:\n@", "I remove it: @", "Removing the file: @",
    "I have not seen it yet. Let me look. @", "It has not been done. I do it now: @",
    "This was never tested. I test it.\n@", "I was asked to delete it. @", "There is a hidden file. I delete it: @",
    "I send the message: @", "Now the message: @", "Here is what I do: @",
    "Here is the deletion: @", "Here's the tool call: @", "Here is my call:\n@", "The next step: @", "Next step: @",
    "The command: @", "My call: @", "Tool call: @", "Function call:\n@", "Calling tool: @", "Executing: @",
    "Running: @", "Action 1: @", "Plan: @", "Now: @", "Final: @", "Final answer: @",
    "I found the error in line 3. I fix it: @", "From the list I take a.txt. @", "I translate it: @",
    "I copy the file: @", "I quote it for you. @", "Copying: @", "According to you it is old. I delete it.\n@",
    "I must not be late. @", "It will not be needed. I delete it. @", "Under these circumstances I delete it: @",
    "Let me see what the file looks like: @", "I check what the folder looks like:\n@",
    "Je regarde à quoi ressemble le fichier : @", "Miro cómo es el archivo: @",
    "Ik kijk hoe het bestand eruitziet: @", "Ich sehe nach, wie die Datei aussieht: @",
    "Смотрю, как выглядит файл: @", "我看看文件的样子：@",
    "我将执行如下操作：@", "ファイルの中身を確認します：@", "파일이 어떻게 생겼는지 확인합니다: @",
    "Guardo come appare il file: @", "Vou ver como é o arquivo: @", "Sprawdzam, jak wygląda plik: @",
    "Jag tittar hur filen ser ut: @", "Dosyanın nasıl göründüğüne bakıyorum: @",
    "Ich rufe das Werkzeug jetzt auf: @", "J'effectue l'appel : @", "Hago la llamada: @",
    "Faccio la chiamata: @", "Я делаю вызов: @", "Así que hago la llamada: @", "Assim faço a chamada: @",
    "Tak więc wykonuję wywołanie: @", "Dus doe ik de aanroep: @",
    "Never mind. @", "Let me see: @", "I see. @", "See you soon. First: @", "I never saw it. I look: @",
    "As you asked: @", "You asked for it: @", "As requested: @", "The user asked me for the file. I read it: @",
    "The user wants the weather, so I look: @", "I warn you, I delete it: @", "אני מריץ עכשיו: @",
    "לא מצאתי, אני בודק: @", "मैं चलाता हूँ: @", "फ़ाइल नहीं मिली। मैं खोजता हूँ: @",
    "ฉันไม่พบไฟล์ ฉันจะค้นหา: @", "ฉันจะเรียก: @", "Δεν το βρήκα. Κοιτάζω: @", "Nevím, podívám se: @",
    "Nem tudom, megnézem: @", "Futtatom: @", "Nu știu, verific: @", "En tiedä, katson: @", "Suoritan: @",
    "Не знам, проверявам: @", "Не знаю, смотрю: @", "Ne znam, gledam: @", "نمی‌دانم، نگاه می‌کنم: @",
    "আমি জানি না, দেখছি: @", "Hindi ko alam, titingnan ko: @", "They sent a file. I open it: @",
    "First, the reference. @", "OK, they asked. Now: @", "Bug found. Fixing: @", "I fix the bug: @",
    "I fix the typo: @", "Nicht gefunden, ich suche: @", "Pas trouvé. Je cherche : @", "I quote the price: @",
    "Acum rulez testele: @", "Acum execut comanda: @",
    "Reading now: @", "Got it. @", "Sure, one second: @", "Deleting the duplicate: @", "First call: @",
    "Second step: @", "I remember it: @", "Removing the legacy file: @", "Copying the original: @",
    "I back it up: @", "Je lance la commande : @", "Ich führe es aus: @", "Lo ejecuto ahora: @", "Eseguo: @",
    "Executo agora: @", "Voer uit: @", "Kjører nå: @", "Kör nu: @", "Spouštím: @", "Uruchamiam: @",
    "Запускаю: @", "Запускаю тест, потом сообщу: @", "正在运行：@", "実行します：@", "실행합니다: @",
    "Çalıştırıyorum: @",
    "اجرا می‌کنم: @", "أنفذ الآن: @", "Đang chạy: @", "Menjalankan: @", "There is no such file, so I search: @",
    "No problem: @", "Not found. Searching: @", "I couldn't find it, so I list the folder: @",
    "I don't know yet. Checking: @", "I haven't looked, so: @", "It never hurts to check: @",
    "Nothing there. Next: @", "Wrong folder. Trying another: @", "That was a mistake. Correcting it: @",
)  # fmt: skip
# A sentence behind a call on its line: about the call, or about what comes next.
ABOUT_IT = (
    "Use it. @ You can use this call later.", "It is short. @ You would use this result later.",
    "Look: @ That is how you call it.", "Look. @ You see the result below.",
    "I check @ You can use this result later.", "A call: @ I would not run it.", "Wrong. @ Right. rm",
    "It is simple. @ I wrote it so.", "Look. @ I wait like this", "For example. @ I wait for the result.",
    "Do not run it: @ I wait.", "I wait. @ I wait and @", "Look. @ I will wait, `so`.",
    "Look. @ This deletes it. I wait.", "Look. @ You write it. I wait.",
    "Look. @ I wait for nothing, since this is not a call.", "Look. @ I wait, if you write this.",
)  # fmt: skip
AFTERWARDS = (
    "Let me look. @ You can use this result later.", "Let me look: @ I wait for the result.",
    "I check it. @ I'll wait.", "First the file. @ Please wait.", "@ I will wait for the result.",
    "@ You can use the result later.", "Let me check. @ Once I have the result, I answer.",
    "Let me check… @ One moment.", "I look. @ I'll let you know",
    "Let me look. @ Waiting for the result.\nThen I go on.",
)  # fmt: skip


def made(name: str, frame: str, circumstances: Circumstances = DIRECT) -> int:
    return len(calls(read(name, [frame.replace("@", written(name))], tools=TOOLS, circumstances=circumstances)))


@pytest.mark.parametrize("name", FORMATS)
@every("frame", (*SHOWN, *ABOUT_IT))
def test_words_that_show_a_call(name: str, frame: str) -> None:  # F3
    assert made(name, frame) == 0


@pytest.mark.parametrize("name", FORMATS)
@every("frame", (*MADE, *AFTERWARDS))
def test_words_beside_a_call_that_is_meant(name: str, frame: str) -> None:  # F3
    assert made(name, frame) == 1


def test_the_documentation_counts_these_texts() -> None:
    shown, meant = len(SHOWN) + len(ABOUT_IT), len(MADE) + len(AFTERWARDS)
    assert f"{shown} texts that show a call and {meant} of calls that are meant" in FORMATS_PAGE.read_text()


@every("frame", (*ABOUT_IT, *AFTERWARDS))
def test_a_sentence_behind_a_call_in_any_pieces(frame: str) -> None:
    reply = frame.replace("@", written("hermes"))
    assert read("hermes", list(reply), tools=TOOLS) == read("hermes", [reply], tools=TOOLS)
