# Writes OUT, a header with each of FILES (names in FOLDER) as an array of bytes that ends with a 0:
#   cmake -DFOLDER=.. -DFILES=kit.css,kit.js -DOUT=.. -P embed.cmake
string(REPLACE "," ";" names "${FILES}")
set(text "")
foreach(name ${names})
  file(READ ${FOLDER}/${name} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  string(REPLACE "." "_" symbol ${name})
  string(APPEND text "static const unsigned char page_${symbol}[] = {\n${bytes}0};\n")
endforeach()
file(WRITE ${OUT} "${text}")
